//! Scritorio: a full-screen terminal writing companion for novelists.
//!
//! The modules stand in layer order: each one uses only modules above it. The table in
//! `tests/architecture.rs` says which, and fails when the code disagrees.

// Words: what the program talks about.
pub mod command;
pub mod domain;
pub mod editor;

// Rules: what is true of a book, without files, network or screen.
pub mod canon;
pub mod craft;
pub mod persona;
pub mod proposal;
pub mod tools;

// Edges: files, settings, keys, servers.
pub mod config;
pub mod providers;
pub mod secrets;
pub mod store;

// One turn of conversation, and the verbs that every front end shares.
pub mod agent;
pub mod workbench;

// Front ends.
pub mod cli;
pub mod tui;
