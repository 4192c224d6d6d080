//! The example book: a copy in the data folder, so that the original is never changed by trying it.

use std::path::PathBuf;

/// Returns the folder of the example copy, made on the first call; `fresh` makes another (none is ever deleted).
pub fn copy(fresh: bool) -> std::io::Result<PathBuf> {
    todo!()
}
