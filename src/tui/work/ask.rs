//! What happens before a question is sent or shown: the marks that are on disk by now are read.
//!
//! Nothing leaves before that, and nothing at all where the folder can't be read: what AI never reads is not known then.

use tokio::sync::mpsc::UnboundedSender;

use super::{Msg, Notice, send, sessions};
use crate::agent::TurnSetup;
use crate::canon::mentions::Names;
use crate::domain::conversation::{Failure, FailureKind};
use crate::domain::ids::SessionId;
use crate::workbench::{Ask, Workbench};

/// Captures everything that a question needs, and notes that its turn has begun. The error is what the author gets in place of an answer.
pub(in super::super) fn begun(
    bench: &Workbench,
    ask: &Ask,
    out: &UnboundedSender<Msg>,
) -> Result<(TurnSetup, SessionId), Box<Msg>> {
    let refused = |failure| Box::new(sessions::stranded(bench, ask).unwrap_or(Msg::Refused(failure)));
    let setup = look_again(bench, out).and_then(|()| bench.prepare(ask)).map_err(refused)?;
    if let Some(caution) = bench.caution(&setup) {
        send(out, Msg::Notice(Notice::hint(caution)));
    }
    let session = bench.begin(ask, &setup);
    Ok((setup, session))
}

/// Builds what would be sent.
pub(super) fn peeked(bench: &Workbench, ask: &Ask, out: &UnboundedSender<Msg>) -> Msg {
    match look_again(bench, out).and_then(|()| bench.peek_since(ask, None)) {
        Ok(peek) => Msg::Peeked(Ok(Box::new(peek))),
        Err(failure) => sessions::stranded(bench, ask).unwrap_or(Msg::Peeked(Err(failure))),
    }
}

/// Reads the book again if another program has touched it since.
fn look_again(bench: &Workbench, out: &UnboundedSender<Msg>) -> Result<(), Failure> {
    match bench.refresh_if_changed() {
        Ok(None) => {}
        Ok(Some(book)) => {
            let names = Names::of(&book);
            send(out, Msg::BookRead(book, names));
        }
        Err(why) => {
            return Err(Failure {
                kind: FailureKind::Work,
                message: format!(
                    "Nothing is sent: the book has changed on disk and can't be read, so that nobody knows what AI never reads. {why}"
                ),
                hint: "Correct that, then ask again.".to_owned(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::domain::ids::BookPath;
    use crate::domain::passage::sha256_hex;
    use crate::providers::client::replayer::{Replayer, Script};
    use crate::tools::Registry;
    use crate::tui::clipboard::Clipboard;
    use crate::tui::effect::Effect;
    use crate::tui::work::Work;
    use crate::workbench::{Overrides, Surroundings};

    const CHAPTERS: [&str; 3] = ["manuscript/1.md", "manuscript/2.md", "manuscript/3.md"];

    /// A book whose open document is sent with every question, since no tool is on offer; and the interface's own work.
    struct Desk {
        folder: tempfile::TempDir,
        replayer: Replayer,
        work: Work,
        out: UnboundedSender<Msg>,
        inbox: tokio::sync::mpsc::UnboundedReceiver<Msg>,
    }

    fn settings(more: &str) -> String {
        let names: Vec<String> = Registry::advisor().specs().map(|spec| format!("{:?}", spec.name)).collect();
        format!("[tools]\ndisabled = [{}]\n{more}", names.join(", "))
    }

    impl Desk {
        async fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("book");
            fs::create_dir_all(root.join("manuscript")).unwrap();
            fs::write(root.join("scritorio.toml"), settings("")).unwrap();
            for path in CHAPTERS {
                fs::write(root.join(path), "# A Title\n\nThe marrowlight burned low.\n").unwrap();
            }
            let said = serde_json::json!({"choices": [{"index": 0, "delta": {"content": "Fine."}, "finish_reason": "stop"}]});
            let answer = Script::stream(format!("data: {said}\n\ndata: [DONE]\n\n"));
            let replayer = Replayer::start(vec![answer; 8]).await;
            let surroundings = Surroundings::in_folders(folder.path());
            fs::create_dir_all(&surroundings.folders.config).unwrap();
            let server = format!(
                "[provider]\nname = 'mine'\n[providers.mine]\nbase_url = '{}'\nwire = 'chat'\nmodel = 'm'\n",
                replayer.base
            );
            fs::write(surroundings.folders.settings_file(), server).unwrap();
            let bench = Workbench::open_in(&root, Overrides::default(), surroundings).unwrap();
            let (out, inbox) = tokio::sync::mpsc::unbounded_channel();
            let work = Work::new(bench, Clipboard::new(true), out.clone());
            Self { folder, replayer, work, out, inbox }
        }

        fn file(&self, path: &str) -> std::path::PathBuf {
            Path::new(self.folder.path()).join("book").join(path)
        }

        /// Asks about a chapter, with the unsaved text that it may have; what was sent, or why nothing was.
        async fn asks(&mut self, path: &str, unsaved: Option<&str>, over: &str) -> Result<String, Failure> {
            let before = self.replayer.recorded().len();
            let ask = Ask {
                question: "And?".to_owned(),
                current: Some((BookPath::new(path).unwrap(), unsaved.map(str::to_owned))),
                based_on: Some(sha256_hex(over)),
                ..Ask::default()
            };
            self.work.start(Effect::Ask(Box::new(ask)), &self.out);
            loop {
                match self.inbox.recv().await.unwrap() {
                    Msg::Refused(failure) => return Err(failure),
                    Msg::Finished(_) => break,
                    _ => {}
                }
            }
            let sent: Vec<String> =
                self.replayer.recorded()[before..].iter().map(|request| request.body.to_string()).collect();
            assert!(!sent.is_empty());
            Ok(sent.concat())
        }
    }

    #[tokio::test]
    async fn what_another_program_marks_between_two_questions_is_not_sent() {
        let mut desk = Desk::new().await;
        let text = fs::read_to_string(desk.file(CHAPTERS[0])).unwrap();
        for path in CHAPTERS {
            assert!(desk.asks(path, None, &text).await.unwrap().contains("marrowlight"), "{path}");
        }
        fs::write(desk.file(CHAPTERS[0]), format!("---\nai: never\n---\n{text}")).unwrap();
        assert!(!desk.asks(CHAPTERS[0], None, &text).await.unwrap().contains("marrowlight"));
        fs::write(desk.file("scritorio.toml"), settings("[ai]\nnever = ['manuscript/2.md']\n")).unwrap();
        assert!(!desk.asks(CHAPTERS[1], None, &text).await.unwrap().contains("marrowlight"));
        assert!(desk.asks(CHAPTERS[2], None, &text).await.unwrap().contains("marrowlight"));
    }

    #[tokio::test]
    async fn unsaved_words_over_a_text_that_was_marked_since_are_not_sent_and_those_that_take_the_mark_off_are()
     {
        let mut desk = Desk::new().await;
        let text = fs::read_to_string(desk.file(CHAPTERS[0])).unwrap();
        let unsaved = format!("{text}And the lanternword.\n");
        let marked = format!("---\nai: never\n---\n{text}");
        fs::write(desk.file(CHAPTERS[0]), &marked).unwrap();
        for _ in 0..2 {
            let sent = desk.asks(CHAPTERS[0], Some(&unsaved), &text).await.unwrap();
            assert!(!sent.contains("lanternword") && !sent.contains("marrowlight"), "{sent}");
        }
        let sent = desk.asks(CHAPTERS[0], Some(&unsaved), &marked).await.unwrap();
        assert!(sent.contains("lanternword"), "the author has seen the mark, and taken it off");
    }

    #[tokio::test]
    async fn while_the_settings_on_disk_can_not_be_read_nothing_is_sent() {
        let mut desk = Desk::new().await;
        desk.asks(CHAPTERS[0], None, "").await.unwrap();
        fs::write(desk.file("scritorio.toml"), "[ai\n").unwrap();
        let refused = desk.asks(CHAPTERS[0], None, "").await.unwrap_err();
        assert!(
            refused.message.contains("Nothing is sent") && refused.message.contains("scritorio.toml:1:"),
            "{}",
            refused.message
        );
        assert_eq!(desk.replayer.recorded().len(), 1);
        fs::write(desk.file("scritorio.toml"), settings("")).unwrap();
        desk.asks(CHAPTERS[0], None, "").await.unwrap();
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn while_the_settings_are_a_link_to_nothing_nothing_is_sent() {
        let mut desk = Desk::new().await;
        fs::rename(desk.file("scritorio.toml"), desk.file("moved.toml")).unwrap();
        std::os::unix::fs::symlink("gone.toml", desk.file("scritorio.toml")).unwrap();
        let refused = desk.asks(CHAPTERS[0], None, "").await.unwrap_err();
        assert!(refused.message.contains("a link to a file that is not there"), "{}", refused.message);
        assert!(desk.replayer.recorded().is_empty());
    }
}
