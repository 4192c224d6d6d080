//! user
