//! The text that an author edits: a rope with a cursor, selection, history and soft wrap.
//!
//! A text, not a widget: nothing here knows a screen's cells beyond their width.
