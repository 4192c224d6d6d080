//! provenance
