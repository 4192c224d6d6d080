//! Pieces of screen that know no application: text and a theme in, rows and cells out.

pub mod markdown;
pub mod text;
