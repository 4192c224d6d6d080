//! Measurements of prose: rhythm, dialogue, echoes, filter words. No model, no opinion.
