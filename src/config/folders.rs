//! folders
