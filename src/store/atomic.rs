//! Writing a file so that a crash leaves the old one or the new one, never a mixture.

use std::path::Path;

/// Writes `bytes` to `path`: temporary file in the same folder, flush, fsync, rename, fsync of the folder. Mode and owner are kept, and a
/// symbolic link stays a link (its target is replaced, when it lies inside `root`).
pub fn write(root: &Path, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    todo!()
}
