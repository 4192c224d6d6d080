//! The tool loop as a pure state machine.
