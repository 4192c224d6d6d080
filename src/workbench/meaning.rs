//! Finding by meaning, where the author switched it on: `[search] embeddings` names a model of the configured provider.
//!
//! Off by default. When it is on, the texts of Codex, notes and manuscript go to that provider once, and each question of a search; the peek view says so.
//! Whatever goes wrong, the search goes on without it. What is sent is paid for like everything else: the budget is asked before, and the cost noted.

use std::sync::{Arc, Mutex, PoisonError};

use crate::canon::meaning::{self, ByMeaning, Piece, Vectors};
use crate::domain::book::Book;
use crate::domain::conversation::Failure;
use crate::domain::ids::TurnId;
use crate::providers::client::ApiKey;
use crate::providers::embeddings::{BATCH, Embeddings};
use crate::providers::{Witness, tokens};
use crate::store::vectors;

use super::Workbench;
use super::provider::OPENAI;

/// Vectors of one model, read from the cache when first needed.
#[derive(Debug, Default)]
pub(super) struct Meanings {
    known: Mutex<Option<(String, Arc<Vectors>)>>,
    /// One asks the server at a time.
    busy: tokio::sync::Mutex<()>,
}

impl Workbench {
    /// Returns the server that makes vectors, with its model, if searching by meaning is on.
    pub(super) fn embeddings(&self) -> Result<Option<(Embeddings, String)>, Failure> {
        let choices = self.choices();
        let Some(model) = self.settings().embeddings.clone() else { return Ok(None) };
        if choices.provider.value != OPENAI {
            return Ok(None);
        }
        let keys = self.inner.keys.clone();
        let key = ApiKey::from_fn(move || keys.find(OPENAI).ok()?.map(|(key, _)| key.expose().to_owned()));
        let client = self.client()?;
        let server = Embeddings::openai(client, choices.base_url.value.as_deref(), key, &model)?;
        Ok(Some((server, model)))
    }

    /// Asks for the vectors of texts as part of a turn, if the budget allows it. The witness notes what they cost.
    async fn embed(
        &self,
        (server, model): (&Embeddings, &str),
        texts: &[String],
        (turn, witness): (&TurnId, &dyn Witness),
    ) -> Result<Vec<Vec<f32>>, Failure> {
        let tokens = texts.iter().map(|text| tokens::estimate(text)).sum();
        self.till(turn, OPENAI, model).allow_texts(tokens)?;
        server.embed(texts, witness).await
    }

    /// Asks for the vectors that pieces of `book` still lack, and keeps them; the `turn` pays. Returns those that are known then, or `None` where this is off.
    pub async fn learn_meanings(
        &self,
        book: &Book,
        turn: &TurnId,
        witness: &dyn Witness,
    ) -> Result<Option<Arc<Vectors>>, Failure> {
        let Some((server, model)) = self.embeddings()? else { return Ok(None) };
        let _one_at_a_time = self.inner.meanings.busy.lock().await;
        let known = self.meanings(&model);
        let pieces = meaning::pieces(book);
        let missing: Vec<_> = pieces.iter().filter(|piece| !known.has(&piece.hash)).collect();
        if missing.is_empty() {
            return Ok(Some(known));
        }
        let mut all = Vectors::clone(&known);
        let mut failed = None;
        for batch in missing.chunks(BATCH) {
            let texts: Vec<String> = batch.iter().map(|piece| piece.text.clone()).collect();
            let answered = match self.embed((&server, &model), &texts, (turn, witness)).await {
                Ok(answered) => answered,
                Err(failure) => {
                    failed = Some(failure);
                    break;
                }
            };
            let new: Vec<_> = batch.iter().map(|piece| piece.hash.clone()).zip(answered).collect();
            // What can't be kept is asked for again the next time, and serves this time all the same.
            let _ = vectors::add(self.root(), &model, &new);
            for (hash, vector) in new {
                all.add(hash, vector);
            }
        }
        let all = Arc::new(all);
        *self.inner.meanings.lock() = Some((model, Arc::clone(&all)));
        failed.map_or(Ok(Some(all)), Err)
    }

    /// Returns who finds texts of `book` by what they mean, if that is on.
    pub(super) fn by_meaning(
        &self,
        book: &Arc<Book>,
        turn: &TurnId,
        witness: &Arc<dyn Witness>,
    ) -> Option<Arc<dyn ByMeaning>> {
        self.settings().embeddings.as_ref()?;
        Some(Arc::new(Finder {
            bench: self.clone(),
            book: Arc::clone(book),
            turn: turn.clone(),
            witness: Arc::clone(witness),
        }))
    }

    /// What is sent for searches by meaning, in words for the author; `None` where this is off.
    pub(super) fn meaning_in_words(&self, book: &Book) -> Option<String> {
        let (server, model) = self.embeddings().ok().flatten()?;
        let known = self.meanings(&model);
        let pieces = meaning::pieces(book);
        let missing: Vec<_> = pieces.iter().filter(|piece| !known.has(&piece.hash)).collect();
        let bytes: usize = missing.iter().map(|piece| piece.text.len()).sum();
        Some(format!(
            "Searching by meaning is on. When search_knowledge is called, its query goes to {}, and once the texts of Codex, notes and manuscript: {} of {} pieces are still to be sent, {bytes} bytes.",
            server.destination(),
            missing.len(),
            pieces.len(),
        ))
    }

    /// The vectors that are known of a model.
    fn meanings(&self, model: &str) -> Arc<Vectors> {
        let mut known = self.inner.meanings.lock();
        if let Some((of, vectors)) = known.as_ref()
            && of == model
        {
            return Arc::clone(vectors);
        }
        let mut vectors = Vectors::default();
        for (hash, vector) in vectors::read(self.root(), model) {
            vectors.add(hash, vector);
        }
        let vectors = Arc::new(vectors);
        *known = Some((model.to_owned(), Arc::clone(&vectors)));
        vectors
    }
}

/// Asks the server on behalf of a tool, which waits.
struct Finder {
    bench: Workbench,
    book: Arc<Book>,
    /// The turn that pays.
    turn: TurnId,
    witness: Arc<dyn Witness>,
}

impl std::fmt::Debug for Finder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Finder").finish_non_exhaustive()
    }
}

impl ByMeaning for Finder {
    fn nearest<'p, 'a>(
        &self,
        pieces: &'p [Piece<'a>],
        question: &str,
        limit: usize,
    ) -> Result<Vec<(&'p Piece<'a>, f32)>, String> {
        let ask = async {
            let known = self.bench.learn_meanings(&self.book, &self.turn, &*self.witness).await?;
            let Some(vectors) = known else { return Ok(None) };
            let Some((server, model)) = self.bench.embeddings()? else { return Ok(None) };
            let (who, question) = ((&server, model.as_str()), [question.to_owned()]);
            let of_question = self.bench.embed(who, &question, (&self.turn, &*self.witness)).await?;
            Ok(of_question.into_iter().next().map(|vector| (vectors, vector)))
        };
        let known = blocking(ask)?.map_err(|f: Failure| format!("{} {}", f.message, f.hint))?;
        Ok(known.map_or_else(Vec::new, |(vectors, vector)| vectors.nearest(pieces, vector, limit)))
    }
}

/// Waits for `work` in a thread and a runtime of its own: whoever asks may stand in another runtime, which must not be blocked.
fn blocking<T: Send>(work: impl Future<Output = T> + Send) -> Result<T, String> {
    let no_network = |why: String| format!("The network can't be used: {why}");
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            Ok(runtime.map_err(|e| no_network(e.to_string()))?.block_on(work))
        });
        asking.join().unwrap_or_else(|_| Err(no_network("it broke".to_owned())))
    })
}

impl Meanings {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(String, Arc<Vectors>)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::domain::ids::SessionId;
    use crate::providers::client::replayer::{Replayer, Script};
    use crate::workbench::egress::Known;
    use crate::workbench::{Overrides, Surroundings};

    fn answer(vectors: &[[f32; 2]]) -> Script {
        let data: Vec<_> = vectors.iter().map(|v| serde_json::json!({"embedding": v})).collect();
        Script::answer(200, "application/json", serde_json::json!({"data": data}).to_string())
    }

    fn turn() -> TurnId {
        TurnId::new("t-1")
    }

    fn witness(bench: &Workbench) -> Arc<dyn Witness> {
        let turn = (SessionId::new("s-1"), turn());
        bench.witness(Some(turn), &bench.book(), Known::default())
    }

    fn bench(folder: &std::path::Path, base: &str, on: bool) -> Workbench {
        let root = folder.join("book");
        fs::create_dir_all(root.join("codex/characters")).unwrap();
        fs::write(root.join("codex/characters/mira.md"), "# Mira\n\nShe keeps the radio.\n").unwrap();
        fs::write(root.join("codex/characters/tobias.md"), "# Tobias\n\nHe bakes.\n").unwrap();
        let surroundings = Surroundings::in_folders(folder);
        fs::create_dir_all(&surroundings.folders.config).unwrap();
        let search = if on { "[search]\nembeddings = 'small'\n" } else { "" };
        let text = format!("[provider]\nname = 'openai'\nbase_url = '{base}'\n{search}");
        fs::write(surroundings.folders.settings_file(), text).unwrap();
        Workbench::open_in(&root, Overrides::default(), surroundings).unwrap()
    }

    #[tokio::test]
    async fn nothing_is_sent_unless_the_author_named_a_model() {
        let folder = tempfile::tempdir().unwrap();
        let replayer = Replayer::start(vec![]).await;
        let bench = bench(folder.path(), &replayer.base, false);
        assert!(bench.learn_meanings(&bench.book(), &turn(), &*witness(&bench)).await.unwrap().is_none());
        assert!(replayer.recorded().is_empty());
    }

    #[tokio::test]
    async fn every_text_is_sent_once_and_kept_for_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let replayer = Replayer::start(vec![answer(&[[1.0, 0.0], [0.0, 1.0]])]).await;
        let bench = bench(folder.path(), &replayer.base, true);
        let known = bench.learn_meanings(&bench.book(), &turn(), &*witness(&bench)).await.unwrap().unwrap();
        assert_eq!(known.len(), 2);
        assert_eq!(
            bench.learn_meanings(&bench.book(), &turn(), &*witness(&bench)).await.unwrap().unwrap().len(),
            2
        );
        let sent = replayer.recorded();
        assert_eq!(sent.len(), 1);
        assert_eq!(
            sent[0].body,
            serde_json::json!({
                "model": "small",
                "input": ["Mira\n# Mira\n\nShe keeps the radio.", "Tobias\n# Tobias\n\nHe bakes."],
                "encoding_format": "float"
            })
        );
        let again =
            Workbench::open_in(bench.root(), Overrides::default(), Surroundings::in_folders(folder.path()));
        assert_eq!(
            again
                .unwrap()
                .learn_meanings(&bench.book(), &turn(), &*witness(&bench))
                .await
                .unwrap()
                .unwrap()
                .len(),
            2
        );
        assert_eq!(replayer.recorded().len(), 1, "the cache is enough after a restart");
    }

    /// Adds to the settings of a book that was made by `bench`, and opens it again.
    fn with(folder: &std::path::Path, more: &str) -> Workbench {
        let surroundings = Surroundings::in_folders(folder);
        let file = surroundings.folders.settings_file();
        fs::write(&file, fs::read_to_string(&file).unwrap() + more).unwrap();
        Workbench::open_in(&folder.join("book"), Overrides::default(), surroundings).unwrap()
    }

    const PRICE: &str = "[prices.small]\ninput = 100\noutput = 0\n";

    #[tokio::test]
    async fn vectors_are_paid_for_by_what_the_server_tells_or_by_an_estimate() {
        let folder = tempfile::tempdir().unwrap();
        let told = serde_json::json!({"data": [{"embedding": [1.0]}, {"embedding": [1.0]}], "usage": {"prompt_tokens": 20}});
        let told = Script::answer(200, "application/json", told.to_string());
        let replayer = Replayer::start(vec![told, answer(&[[1.0, 0.0]]), Script::default()]).await;
        bench(folder.path(), &replayer.base, true);
        let bench = with(folder.path(), PRICE);
        bench.learn_meanings(&bench.book(), &turn(), &*witness(&bench)).await.unwrap();
        let month = bench.standing().month;
        assert!((month.dollars - 0.002).abs() < 1e-9, "{month:?}");
        assert_eq!((month.responses, month.estimated), (1, 0));
        fs::write(bench.root().join("codex/characters/tobias.md"), "# Tobias\n\nHe fishes.\n").unwrap();
        let again = with(folder.path(), "");
        again.learn_meanings(&again.book(), &turn(), &*witness(&again)).await.unwrap();
        let month = again.standing().month;
        assert_eq!((month.responses, month.estimated), (2, 1), "this time nobody told the tokens");
        assert!(month.dollars > 0.002);
        fs::write(bench.root().join("codex/characters/tobias.md"), "# Tobias\n\nHe mends nets.\n").unwrap();
        let lost = with(folder.path(), "");
        lost.learn_meanings(&lost.book(), &turn(), &*witness(&lost)).await.unwrap_err();
        assert_eq!(lost.standing().month.responses, 3, "nobody knows what was done with them");
    }

    #[tokio::test]
    async fn a_budget_that_refuses_lets_no_text_go() {
        let folder = tempfile::tempdir().unwrap();
        let replayer = Replayer::start(vec![]).await;
        bench(folder.path(), &replayer.base, true);
        let bench = with(folder.path(), &format!("{PRICE}[budget]\nrefuse = 0.0001\n"));
        let refused = bench.learn_meanings(&bench.book(), &turn(), &*witness(&bench)).await.unwrap_err();
        assert!(refused.message.contains("Nothing was sent."), "{refused:?}");
        assert!(replayer.recorded().is_empty());
    }

    #[tokio::test]
    async fn vectors_whose_price_is_not_known_are_refused_by_a_budget() {
        let folder = tempfile::tempdir().unwrap();
        bench(folder.path(), "https://models.invalid/v1", true);
        let bench = with(folder.path(), "[budget]\nper_turn = 1\n");
        let refused = bench.learn_meanings(&bench.book(), &turn(), &*witness(&bench)).await.unwrap_err();
        assert!(refused.message.contains("price of small is not known"), "{refused:?}");
    }

    #[tokio::test]
    async fn a_server_without_vectors_is_a_failure_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let replayer = Replayer::start(vec![Script::answer(404, "text/plain", "no such thing")]).await;
        let bench = bench(folder.path(), &replayer.base, true);
        let failure = bench.learn_meanings(&bench.book(), &turn(), &*witness(&bench)).await.unwrap_err();
        assert!(!failure.message.is_empty() && !failure.hint.is_empty());
        assert_eq!(bench.standing().month.responses, 0, "what is refused costs nothing");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_persona_finds_by_meaning_what_no_word_tells() {
        let folder = tempfile::tempdir().unwrap();
        let scripts = [answer(&[[1.0, 0.0], [0.0, 1.0]]), answer(&[[0.1, 1.0]])];
        let replayer = Replayer::start(scripts).await;
        let bench = bench(folder.path(), &replayer.base, true);
        let ask = crate::workbench::Ask::default();
        let call = tokio::task::spawn_blocking(move || {
            let besides = bench.peek(&ask, None).unwrap().besides.unwrap();
            assert!(besides.contains("2 of 2 pieces are still to be sent"), "{besides}");
            bench.call_tool("search_knowledge", r#"{"query": "who makes bread", "limit": null}"#, &ask)
        });
        let found = call.await.unwrap().unwrap();
        assert_eq!((&found["results"][0]["name"], &found["byMeaning"]), (&"Tobias".into(), &true.into()));
        assert_eq!(replayer.recorded()[1].body["input"], serde_json::json!(["who makes bread"]));
    }
}
