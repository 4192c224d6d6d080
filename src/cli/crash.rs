//! What a crash of the program says: where in the program, and nothing of what it was at work on. A panic's own message may quote the text that
//! it stumbled over, and a crash report is what people send around. No word of a book, a prompt, an answer or a key is in it.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write;
use std::panic::{Location, PanicHookInfo};

/// From now on a panic of any thread is told so.
pub(super) fn tell_only_where() {
    std::panic::set_hook(Box::new(|info: &PanicHookInfo<'_>| {
        let _ = writeln!(std::io::stderr(), "{}", words(info.location()));
        // Names of functions, where the author's environment asks for them.
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            let _ = writeln!(std::io::stderr(), "{trace}");
        }
    }));
}

fn words(place: Option<&Location<'_>>) -> String {
    let place = place.map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    format!(
        "scritorio has a fault at {place}. What was saved is as it was; edits that were not are offered when the book is opened again.\n\
         Please report this place. No words of yours are in this message."
    )
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const CHILD: &str = "cli::crash::tests::in_a_process_of_its_own";
    const DIES: &str = "SCRITORIO_TEST_CRASHES";
    const CANARY: &str = "Quillwort \u{e9} lamp";

    /// Not a test of its own: what the other one starts. Does nothing otherwise.
    #[test]
    fn in_a_process_of_its_own() {
        let Ok(how) = std::env::var(DIES) else { return };
        tell_only_where();
        let text = std::hint::black_box(CANARY);
        match how.as_str() {
            // In the middle of a letter: the message of the library quotes the text.
            "slice" => assert_eq!(&text[..11], ""),
            "unwrap" => assert_eq!(std::hint::black_box(Err::<u8, _>(text)).unwrap(), 1),
            _ => assert!(std::thread::spawn(move || panic!("{text}")).join().is_ok()),
        }
        std::process::abort();
    }

    #[test]
    fn a_crash_tells_its_place_and_no_word_of_the_text() {
        for how in ["slice", "unwrap", "thread"] {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", CHILD, "--nocapture"]).env(DIES, how).env("RUST_BACKTRACE", "1");
            let output = command.output().unwrap();
            assert!(!output.status.success());
            let said = [output.stdout, output.stderr]
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .concat();
            let expected = concat!("scritorio has a fault at ", "src/cli/crash.rs:");
            assert!(said.contains(expected), "{how}: {said}");
            for word in ["Quillwort", "lamp"] {
                assert!(!said.contains(word), "{how}: {said}");
            }
        }
    }
}
