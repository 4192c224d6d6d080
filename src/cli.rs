//! The command line: one verb, one file.

/// Runs the program and returns its exit code.
pub fn main() -> std::process::ExitCode {
    todo!()
}
