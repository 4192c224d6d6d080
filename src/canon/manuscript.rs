//! Finding a chapter by what an author calls it.

use crate::domain::book::Book;
use crate::domain::manuscript::Chapter;

/// What a reference came to.
#[derive(Debug, Clone)]
pub enum ChapterRef<'a> {
    /// This chapter.
    Found(&'a Chapter),
    /// None; these three titles are nearest.
    Missing(Vec<String>),
}

/// Resolves a chapter number (`3`, `chapter 3`, `ch. 3`, `three`, `III`), a title (exact, then without case and accents, then
/// fuzzy), a relative path, or a file stem.
pub fn resolve<'a>(book: &'a Book, reference: &str) -> ChapterRef<'a> {
    todo!()
}

/// Returns the chapter references that a question makes in words: `chapter 3`, `ch. 3`, `chapter three`, or a whole title.
pub fn references_in(book: &Book, question: &str) -> Vec<String> {
    todo!()
}
