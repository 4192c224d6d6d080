//! Tools that look things up.
