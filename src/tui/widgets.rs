//! Pieces of screen that know no application: text and a theme in, rows and cells out.

pub mod diff;
pub mod input;
pub mod list;
pub mod markdown;
pub mod popup;
pub mod text;
