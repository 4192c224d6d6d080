//! Asks the offline reader about a book, through the same tool loop that a model would drive.
//!
//!     cargo run --example offline_reader -- examples/the-long-silence "Who is Adrian?"

use std::io::Write as _;
use std::sync::Arc;

use scritorio::agent::event::TurnEventKind;
use scritorio::agent::{FirstRound, TurnSetup, driver};
use scritorio::canon::index::{Index, LaterIndex};
use scritorio::domain::conversation::ToolStatus;
use scritorio::domain::ids::{SessionId, TurnId};
use scritorio::persona::{board, prompt};
use scritorio::providers::Options;
use scritorio::providers::offline::{MODEL, OfflineReader};
use scritorio::store::book;
use scritorio::tools::{Registry, Seen};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let folder = words.next().unwrap_or_else(|| "examples/the-long-silence".into());
    let question = words.next().unwrap_or_else(|| "Who is Adrian?".into());

    let book = Arc::new(book::read(folder.as_ref())?);
    let registry = Arc::new(Registry::advisor());
    let member = board::member(None);
    let instructions = {
        let tools: Vec<_> = registry.specs().map(|spec| (spec.name, spec.about)).collect();
        prompt::system(member, &book.settings, &tools)?
    };

    let index = {
        let book = Arc::clone(&book);
        LaterIndex::new(move || Arc::new(Index::of(&book)))
    };
    let mut turn = driver::start(TurnSetup {
        id: TurnId::mint(),
        session: SessionId::mint(),
        provider: Arc::new(OfflineReader::new(Arc::clone(&book), Arc::clone(&registry), member.id)),
        witness: Arc::new(()),
        purse: Arc::new(()),
        model: MODEL.into(),
        registry,
        index,
        meaning: None,
        read_to: None,
        chapter: None,
        persona: member.id,
        book,
        current: None,
        selection: None,
        open_is_private: false,
        seen: Seen::default(),
        instructions,
        history: vec![],
        continue_from: None,
        question,
        options: Options::default(),
        max_rounds: 4,
        first_round: FirstRound::Patterns,
        notices: vec![],
        left_out: 0,
        numbers_missing: false,
    });
    while let Some(event) = turn.events.recv().await {
        match event.kind {
            TurnEventKind::Tool(row) if row.status == ToolStatus::Done => {
                eprintln!("{} {}: {} found, {} ms", row.name, row.arguments, row.results, row.ms);
            }
            TurnEventKind::Text(words) => {
                print!("{words}");
                std::io::stdout().flush()?;
            }
            _ => {}
        }
    }
    println!();
    Ok(())
}
