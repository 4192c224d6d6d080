//! Chapters, and the ways in which an author names one.

use std::sync::Arc;

use super::ids::BookPath;
use super::story_date::StoryDate;

/// One file of the manuscript.
#[derive(Debug, Clone)]
pub struct Chapter {
    /// Where it is.
    pub path: BookPath,
    /// Chapter number: what the author calls it, not an index.
    pub number: u32,
    /// Where the number was found.
    pub number_from: NumberFrom,
    /// Frontmatter title, first heading, or the file's name made readable.
    pub title: String,
    /// The whole file, frontmatter included, exactly as on disk (a BOM too).
    pub text: Arc<str>,
    /// Byte offset in `text` where the prose starts, after the frontmatter.
    pub body_start: usize,
    /// Words of prose.
    pub words: usize,
    /// When it happens, as its frontmatter says.
    pub time: StoryTime,
}

/// What the frontmatter of a chapter says of story time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoryTime {
    /// When it happens.
    pub date: Option<StoryDate>,
    /// It stands out of the order of time on purpose: `flashback: true` and the like.
    pub out_of_order: bool,
    /// Who is there, as it names them: `pov`, `characters`, `present`.
    pub cast: Vec<String>,
}

impl Chapter {
    /// Returns the prose, without frontmatter.
    pub fn body(&self) -> &str {
        &self.text[self.body_start..]
    }
}

/// Where a chapter's number comes from, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberFrom {
    /// `chapter:` or `number:` in the frontmatter.
    Frontmatter,
    /// "Chapter 3" in the first heading.
    Heading,
    /// `03-title.md`
    FileName,
    /// Its place in the reading order.
    Position,
}

impl NumberFrom {
    /// Returns a word for `doctor`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Frontmatter => "frontmatter",
            Self::Heading => "heading",
            Self::FileName => "file name",
            Self::Position => "position",
        }
    }
}
