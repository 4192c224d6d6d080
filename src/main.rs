//! The `scritorio` program: hands its arguments to the library and exits with what comes back.

use std::process::ExitCode;

fn main() -> ExitCode {
    scritorio::cli::main()
}
