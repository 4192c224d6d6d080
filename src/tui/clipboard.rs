//! The clipboard: the system's where there is one, else the terminal's, which is told by an escape sequence.
//!
//! All of it happens on a thread of its own: a clipboard may take long to answer, and on X11 its owner has to live as long as what was
//! copied. Nothing is written to the terminal here; whoever owns the terminal writes the sequence, between frames.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// Bytes of text that terminals are known to accept in one sequence.
const MOST_FOR_TERMINAL: usize = 74_000;

/// How long the end of the program waits for a clipboard manager to take over what was copied.
const HANDOVER: Duration = Duration::from_millis(300);

/// What became of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Copied {
    /// The system's clipboard holds it.
    System,
    /// These bytes ask the terminal to hold it. Whether it does can't be known.
    Terminal(Vec<u8>),
    /// It is too long for the terminal, and there is no system clipboard.
    TooLong,
}

impl Copied {
    /// Says what happened, and no more than is known.
    pub fn message(&self) -> &'static str {
        match self {
            Self::System => "Copied",
            Self::Terminal(_) => "Sent to the terminal's clipboard",
            Self::TooLong => {
                "Not copied: too long for the terminal's clipboard. Select less, or save and copy the file"
            }
        }
    }
}

/// A clipboard that the system offers.
trait System: 'static {
    fn set(&mut self, text: &str) -> bool;
    fn get(&mut self) -> Option<String>;
}

impl System for arboard::Clipboard {
    fn set(&mut self, text: &str) -> bool {
        self.set_text(text).is_ok()
    }

    fn get(&mut self) -> Option<String> {
        self.get_text().ok()
    }
}

enum Job {
    Copy(String, Box<dyn FnOnce(Copied) + Send>),
    Paste(Box<dyn FnOnce(Option<String>) + Send>),
}

/// Access to the clipboard. Answers come on another thread.
pub struct Clipboard {
    jobs: Option<Sender<Job>>,
    ended: Receiver<()>,
}

impl Clipboard {
    /// Opens the system's clipboard, on its own thread, when it is first used. A `remote` program (over SSH) has none: what it
    /// copies belongs on the machine that the author sits at.
    pub fn new(remote: bool) -> Self {
        Self::with(move || if remote { None } else { arboard::Clipboard::new().ok() })
    }

    fn with<S: System>(open: impl FnMut() -> Option<S> + Send + 'static) -> Self {
        let (jobs, todo) = channel();
        let (end, ended) = channel();
        // Without a thread there is no system clipboard, and every answer is immediate.
        let spawned = thread::Builder::new().name("clipboard".into()).spawn(move || {
            serve(&todo, open);
            let _ = end.send(());
        });
        Self { jobs: spawned.is_ok().then_some(jobs), ended }
    }

    /// Copies `text` and says what became of it.
    pub fn copy(&self, text: String, answer: impl FnOnce(Copied) + Send + 'static) {
        self.send(Job::Copy(text, Box::new(answer)));
    }

    /// Reads the system's clipboard; `None` where there is none or it holds no text, and the terminal's own paste is the way.
    pub fn paste(&self, answer: impl FnOnce(Option<String>) + Send + 'static) {
        self.send(Job::Paste(Box::new(answer)));
    }

    fn send(&self, job: Job) {
        let unsent = match &self.jobs {
            Some(jobs) => jobs.send(job).err().map(|e| e.0),
            None => Some(job),
        };
        if let Some(job) = unsent {
            run(job, None::<&mut arboard::Clipboard>);
        }
    }
}

/// Lets what was copied outlive the program where a clipboard manager takes it, but never waits long.
impl Drop for Clipboard {
    fn drop(&mut self) {
        drop(self.jobs.take());
        let _ = self.ended.recv_timeout(HANDOVER);
    }
}

fn serve<S: System>(todo: &Receiver<Job>, mut open: impl FnMut() -> Option<S>) {
    let mut system = None;
    for job in todo {
        // A display that was not there may be there now.
        if system.is_none() {
            system = open();
        }
        run(job, system.as_mut());
    }
}

fn run(job: Job, mut system: Option<&mut impl System>) {
    match job {
        Job::Copy(text, answer) => {
            let held = system.as_mut().is_some_and(|s| s.set(&text));
            answer(if held {
                Copied::System
            } else if text.len() > MOST_FOR_TERMINAL {
                Copied::TooLong
            } else {
                Copied::Terminal(osc52(&text))
            });
        }
        Job::Paste(answer) => answer(system.and_then(System::get)),
    }
}

/// Returns the sequence that asks a terminal to hold `text`: <https://invisible-island.net/xterm/ctlseqs/ctlseqs.html#h3-Operating-System-Commands>.
fn osc52(text: &str) -> Vec<u8> {
    format!("\x1b]52;c;{}\x07", base64(text.as_bytes())).into_bytes()
}

/// Base64 with padding: <https://www.rfc-editor.org/rfc/rfc4648#section-4>.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |i: usize| u32::from(group.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i)) as usize & 63];
            out.push(if i <= group.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A clipboard that others can look into.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<String>>);

    impl System for Shared {
        fn set(&mut self, text: &str) -> bool {
            text.clone_into(&mut self.0.lock().unwrap());
            true
        }

        fn get(&mut self) -> Option<String> {
            Some(self.0.lock().unwrap().clone())
        }
    }

    fn copied(clipboard: &Clipboard, text: &str) -> Copied {
        let (answer, answered) = channel();
        clipboard.copy(text.into(), move |copied| answer.send(copied).unwrap());
        answered.recv().unwrap()
    }

    fn pasted(clipboard: &Clipboard) -> Option<String> {
        let (answer, answered) = channel();
        clipboard.paste(move |text| answer.send(text).unwrap());
        answered.recv().unwrap()
    }

    #[test]
    fn the_system_clipboard_is_used_where_there_is_one() {
        let shared = Shared::default();
        let system = shared.clone();
        let clipboard = Clipboard::with(move || Some(system.clone()));
        assert_eq!(copied(&clipboard, "the long silence"), Copied::System);
        assert_eq!(*shared.0.lock().unwrap(), "the long silence");
        assert_eq!(pasted(&clipboard).as_deref(), Some("the long silence"));
    }

    #[test]
    fn without_one_the_terminal_is_asked_and_success_is_not_claimed() {
        let clipboard = Clipboard::new(true);
        let answer = copied(&clipboard, "Ilse");
        assert_eq!(answer, Copied::Terminal(b"\x1b]52;c;SWxzZQ==\x07".to_vec()));
        assert_eq!(answer.message(), "Sent to the terminal's clipboard");
        assert_eq!(pasted(&clipboard), None);
    }

    #[test]
    fn a_text_can_be_too_long_for_a_terminal_and_not_for_a_system() {
        let long = "a".repeat(MOST_FOR_TERMINAL + 1);
        assert_eq!(copied(&Clipboard::new(true), &long), Copied::TooLong);
        let shared = Shared::default();
        assert_eq!(copied(&Clipboard::with(move || Some(shared.clone())), &long), Copied::System);
    }

    #[test]
    fn a_clipboard_that_appears_later_is_found() {
        let mut tries = 0;
        let clipboard = Clipboard::with(move || {
            tries += 1;
            (tries > 1).then(Shared::default)
        });
        assert!(matches!(copied(&clipboard, "a"), Copied::Terminal(_)));
        assert_eq!(copied(&clipboard, "b"), Copied::System);
    }

    #[test]
    fn base64_is_as_the_standard_gives_it() {
        let given = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ];
        for (plain, encoded) in given {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
        assert_eq!(base64("日本".as_bytes()), "5pel5pys");
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }
}
