//! Tools that draft a change.
