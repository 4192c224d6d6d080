//! API keys: where they come from, and a type that never shows them.
