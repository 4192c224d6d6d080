//! What servers really send: recorded streams and one file for every known way to be nearly compatible, in `captures/`. Each is played whole, in
//! single bytes, with other line ends, and cut at every byte: never a panic, never a wrong call, always a clear end.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on has failed")]

use std::collections::BTreeSet;
use std::path::Path;

use scritorio::providers::abilities::Abilities;
use scritorio::providers::hearing::{End, Hearing};
use scritorio::providers::wire::{Progress, Protocol};
use scritorio::providers::{Event, Options, Request};
use serde_json::json;

/// Every file with what it comes to: thoughts, words, calls, and the end.
const COMES_TO: [(&str, &str); 104] = [
    ("all_so_far_beside_each_piece.chat.sse", "She left. | ended"),
    ("arguments_empty.chat.sse", "list {} | ended"),
    ("arguments_object.chat.sse", r#"look {"name":"Mira"} | ended"#),
    ("arguments_repeated.chat.sse", r#"look {"name":"Mira"} | ended"#),
    ("bom_and_no_space.chat.sse", "She left. | ended"),
    ("braces_before_the_arguments.chat.sse", r#"look {"name":"Mira"} | ended"#),
    ("call_id_for_every_event.responses.sse", r#"look {"name":"Mira"} | look {"name":"Osric"} | ended"#),
    ("content_parts.chat.sse", "thinks | She left. | ended"),
    ("cr.chat.sse", "She left. | ended"),
    ("crlf.chat.sse", "She left. | ended"),
    ("cut_at_the_limit.anthropic.sse", "ended, cut: max_tokens"),
    ("cut_at_the_limit.chat.sse", "ended, cut: length"),
    ("cut_before_the_input.anthropic.sse", r#"look {"name":"Mira"} | ended, cut: max_tokens"#),
    ("cut_by_another_name.chat.sse", "She | ended, cut: model length"),
    ("cut_call.responses.sse", r#"look {"name":"Mira"} | ended, cut: max_output_tokens"#),
    ("deltas_alone.responses.sse", "I look.\n\nNow. | ended"),
    ("done_without_a_reason.chat.sse", "ended"),
    ("empty_arguments_without_a_reason.chat.sse", "list {} | ended"),
    ("error_in_the_middle.ollama.ndjson", "She | failed: llama runner process has terminated"),
    ("error_integer_code.chat.sse", "failed 500: context shift is disabled"),
    ("error_integer_code.responses.sse", "failed 503: Loading model"),
    ("error_string.chat.sse", "failed: the model crashed"),
    ("failed.responses.sse", "failed: it broke"),
    ("gateway_metadata.chat.sse", "She left. | ended"),
    ("groq_usage.chat.sse", "She left. | ended"),
    ("harmony_call_in_content.chat.sse", r#"thinks | look {"name":"Mira"} | ended"#),
    ("harmony_in_content.anthropic.sse", "thinks | She left. | ended"),
    ("harmony_in_content.chat.sse", "thinks | She left. | ended"),
    ("harmony_in_content.responses.sse", "thinks | She left. | ended"),
    (
        "harmony_is_the_subject.chat.sse",
        "The token <|start|> begins a message, and these last words matter. | ended",
    ),
    ("harmony_name.anthropic.sse", r#"look {"name":"Mira"} | list {} | ended"#),
    ("harmony_name.responses.sse", r#"look {"name":"Mira"} | list {} | ended"#),
    ("hermes_written_call.chat.sse", r#"I look. | look {"name":"Mira"} | ended"#),
    ("html.chat.sse", "a web page"),
    ("id_for_every_event.responses.sse", "She left. | ended"),
    ("id_for_every_piece.chat.sse", r#"look {"name":"Mira"} | ended"#),
    ("incomplete.responses.sse", "ended, cut: max_output_tokens"),
    ("lines_instead_of_events.chat.sse", "She left. | ended"),
    ("llamacpp.chat.sse", r#"get_weather { "city": "Paris" } | ended"#),
    ("llamacpp.responses.sse", r#"get_weather { "city": "Paris" } | ended"#),
    ("llamacpp_limit.responses.sse", "ended, cut: max_output_tokens"),
    ("lmstudio_written_call.chat.sse", r#"look {"name":"Mira"} | ended"#),
    ("name_repeated.chat.sse", r#"look {"name":"Mira"} | ended"#),
    ("neither_id_nor_index.chat.sse", r#"look {"name":"Mira"} | look {"name":"Osric"} | ended"#),
    ("no_blank_line_at_the_end.chat.sse", "She left. | ended"),
    ("no_blank_lines.chat.sse", "She left. | ended"),
    ("no_done.chat.sse", "She left. | ended"),
    ("no_id.chat.sse", r#"look {"name":"Mira"} | ended"#),
    ("no_index.chat.sse", r#"look {"name":"Mira"} | look {"name":"Osric"} | ended"#),
    ("no_line_end.ollama.ndjson", "She left. | ended"),
    ("official_doc_example.responses.sse", "Hi there! How can I assist you today? | ended"),
    ("old_function_call.chat.sse", r#"look {"name":"Mira"} | ended"#),
    ("ollama_same_index.chat.sse", r#"look {"name":"Mira"} | look {"name":"Osric"} | ended"#),
    ("one_id_and_one_index.chat.sse", r#"look {"name":"Mira"} | get_weather {"city":"Paris"} | ended"#),
    ("one_id_for_two_calls.ollama.ndjson", r#"look {"name":"Mira"} | get_weather {"city":"Paris"} | ended"#),
    ("one_id_for_two_objects.chat.sse", r#"look {"name":"Mira"} | look {"name":"Osric"} | ended"#),
    ("one_id_for_two_tools.chat.sse", r#"look {"name":"Mira"} | get_weather {"city":"Paris"} | ended"#),
    ("one_place_for_all.responses.sse", "I look.\n\nNow. | look {\"name\":\"Mira\"} | list {} | ended"),
    ("openrouter_error_in_stream.chat.sse", "She | failed: Provider disconnected"),
    ("openrouter_keepalive.chat.sse", "She left. | ended"),
    ("other_ids_at_the_end.responses.sse", r#"I look. | look {"name":"Mira"} | list {} | ended"#),
    ("overloaded.anthropic.sse", "She | failed 529: Overloaded"),
    ("quirk_args_object.chat.sse", "cut off"),
    ("quirk_error_chunk.chat.sse", "failed 502: x"),
    ("quirk_no_index.chat.sse", "cut off"),
    ("quirk_reasoning_role_null.chat.sse", "thinks | xx | cut off"),
    ("quirk_service_tier_new.chat.sse", "xy | cut off"),
    ("quirk_unknown_event.responses.sse", "failed: m"),
    ("reasoning_and_a_closing_tag.chat.sse", "thinks | He writes </think> on the wall. | ended"),
    ("reasoning_content.chat.sse", "thinks | She left. | ended"),
    ("reasoning_renamed.chat.sse", "thinks | She left. | ended"),
    ("refusal.chat.sse", "I won't say. | ended"),
    ("tail_with_another_index.chat.sse", r#"look {"name":"Mira"} | ended"#),
    ("think.anthropic.sse", "thinks | She left. | ended"),
    ("think.responses.sse", "thinks | She left. | ended"),
    ("think_after_words.anthropic.sse", "thinks | I look. She left. | ended"),
    ("think_after_words.chat.sse", "thinks | I look. She left. | ended"),
    ("think_after_words.ollama.ndjson", "thinks | I look. She left. | ended"),
    ("think_after_words.responses.sse", "thinks | I look. She left. | ended"),
    ("think_in_one_piece.chat.sse", "thinks | She left. | ended"),
    ("think_in_the_second_block.anthropic.sse", "thinks | I look.\n\nShe left. | ended"),
    ("think_is_the_subject.anthropic.sse", "Put it between <think> and </think> tags if you must. | ended"),
    ("think_is_the_subject.chat.sse", "Put it between <think> and </think> tags if you must. | ended"),
    ("think_is_the_subject.ollama.ndjson", "Put it between <think> and </think> tags if you must. | ended"),
    ("think_is_the_subject.responses.sse", "Put it between <think> and </think> tags if you must. | ended"),
    ("think_never_closed.chat.sse", "thinks | One.\n<think>\nShe thinks.\nTwo. | ended"),
    ("think_split.chat.sse", "thinks | She left. | ended"),
    ("think_without_opening.anthropic.sse", "thinks | She left. | ended"),
    ("think_without_opening.chat.sse", "thinks | She left. | ended"),
    ("think_without_opening.responses.sse", "thinks | I look.\n\nShe left. | ended"),
    ("think_without_opening_in_the_second_block.anthropic.sse", "thinks | I look.\n\nShe left. | ended"),
    ("thinks_and_calls.anthropic.sse", r#"thinks | I look. | look {"name": "Mira"} | ended"#),
    (
        "thinks_and_calls.ollama.ndjson",
        r#"thinks | I look. | look {"name":"Mira"} | look {"name":"Osric"} | ended"#,
    ),
    ("thought.chat.sse", "thinks | She left. | ended"),
    ("two_at_once.responses.sse", "One.\n\nTwo. More.\n\nAnd a half. | ended"),
    ("two_calls_told_apart_by_name.chat.sse", r#"look {"name":"Mira"} | look {"name":"Osric"} | ended"#),
    ("vllm_harmony.chat.sse", r#"look {"name":"Mira"} | ended"#),
    ("vllm_stop_with_calls.chat.sse", r#"look {"name":"Mira"} | ended"#),
    ("web_search.responses.sse", "web lamp oil 1890 | She left. | ended"),
    ("whole_instead_of_a_stream.anthropic.sse", "web lamp oil 1890 | She left. | ended"),
    ("whole_instead_of_a_stream.chat.sse", r#"I look. | look {"name":"Mira"} | ended"#),
    ("whole_message_at_the_end.chat.sse", "She left. | ended"),
    ("written_call.anthropic.sse", r#"I look. | look {"name":"Mira"} | ended"#),
    ("written_call.responses.sse", r#"I look. | look {"name":"Mira"} | ended"#),
];

/// What an answer came to.
#[derive(Debug, Default, Clone, PartialEq)]
struct Heard {
    thinks: bool,
    web: Vec<String>,
    words: String,
    calls: Vec<String>,
    end: String,
}

impl Heard {
    fn shown(&self) -> String {
        let thinks = self.thinks.then(|| "thinks".to_owned());
        let web = self.web.iter().map(|query| format!("web {query}"));
        let words = Some(self.words.trim().to_owned()).filter(|w| !w.is_empty());
        let calls = self.calls.iter().cloned();
        let parts = thinks.into_iter().chain(web).chain(words).chain(calls).chain([self.end.clone()]);
        parts.collect::<Vec<_>>().join(" | ")
    }

    /// Whether the tool loop would go on with this.
    fn is_good(&self) -> bool {
        self.end.starts_with("ended")
    }
}

fn request() -> Request {
    let tool = |name: &str| json!({ "type": "function", "name": name });
    Request {
        model: "m".into(),
        tools: ["look", "list", "get_weather", "f"].map(tool).to_vec(),
        options: Options { max_output_tokens: Some(1_000), ..Options::default() },
        ..Request::default()
    }
}

fn protocol(file: &str) -> Protocol {
    Protocol::named(file.rsplit('.').nth(1).unwrap()).unwrap()
}

fn hear<'b>(file: &str, chunks: impl IntoIterator<Item = &'b [u8]>) -> Heard {
    let reader = protocol(file).wire().reader(&request(), &Abilities::default());
    let (mut hearing, mut events) = (Hearing::new(reader), vec![]);
    let mut end = None;
    for chunk in chunks {
        end = match hearing.push(chunk, &mut events).unwrap() {
            Progress::Going => continue,
            Progress::Ended => Some(End::Ended),
            Progress::Failed(refusal) => Some(End::Failed(refusal)),
        };
        break;
    }
    let end = end.unwrap_or_else(|| hearing.finish(&mut events));
    summed_up(events, end)
}

fn summed_up(events: Vec<Event>, end: End) -> Heard {
    let mut heard = Heard::default();
    let mut finished = vec![];
    let mut ids = BTreeSet::new();
    for event in events {
        match event {
            Event::Reasoning => heard.thinks = true,
            Event::WebSearch { query } => heard.web.push(query),
            Event::Text(words) => heard.words.push_str(&words),
            Event::TakenBack => heard.words.clear(),
            Event::Call { call_id, name, arguments } => {
                assert!(ids.insert(call_id.clone()), "two calls are {call_id}");
                let arguments = arguments.split_whitespace().collect::<Vec<_>>().join(" ");
                heard.calls.push(format!("{name} {arguments}"));
            }
            Event::Finished { truncated, .. } => finished.push(truncated),
            _ => {}
        }
    }
    assert_eq!(finished.len(), usize::from(end == End::Ended), "an answer finishes once, when it ends well");
    heard.end = match (end, finished.pop().flatten()) {
        (End::Ended, None) => "ended".into(),
        (End::Ended, Some(why)) => format!("ended, cut: {why}"),
        (End::Failed(refusal), _) => match refusal.status {
            Some(status) => format!("failed {status}: {}", refusal.message),
            None => format!("failed: {}", refusal.message),
        },
        (End::WebPage, _) => "a web page".into(),
        (End::NoAnswer, _) => "no answer".into(),
        (End::CutOff, _) => "cut off".into(),
    };
    heard
}

fn capture(file: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(file)).unwrap()
}

#[test]
fn every_capture_comes_to_what_it_means_whole_and_in_single_bytes() {
    let mut files: Vec<String> =
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures"))
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
    files.sort();
    assert_eq!(files, COMES_TO.map(|(file, _)| file), "a capture that nobody plays");
    for (file, expected) in COMES_TO {
        let bytes = capture(file);
        assert_eq!(hear(file, [bytes.as_slice()]).shown(), expected, "{file}");
        assert_eq!(hear(file, bytes.chunks(1)).shown(), expected, "{file}, byte by byte");
        assert_eq!(hear(file, bytes.chunks(7)).shown(), expected, "{file}, seven bytes at a time");
    }
}

#[test]
fn line_ends_marks_and_spaces_make_no_difference() {
    for (file, expected) in COMES_TO {
        let text = String::from_utf8(capture(file)).unwrap();
        // Documents are no events: a line end within one is only white space.
        let is_events = text.contains("data:") && !text.contains('\r');
        let mut others =
            vec![format!("\u{feff}{}", text.trim_start_matches('\u{feff}')), format!("\n\n{text}")];
        if is_events {
            others.push(text.replace('\n', "\r\n"));
            others.push(text.replace('\n', "\r"));
            others.push(text.replace("data: ", "data:"));
            others.push(text.replace("data: ", ": ping\ndata: "));
        }
        for other in others {
            if file.ends_with("no_space.chat.sse") && other.starts_with("\n\n") {
                // The mark counts at the very beginning alone.
                continue;
            }
            assert_eq!(hear(file, [other.as_bytes()]).shown(), expected, "{file}: {other:?}");
        }
    }
}

#[test]
fn cut_anywhere_an_answer_calls_nothing_that_it_would_not_have_called_whole() {
    let mut cuts = 0;
    for (file, _) in COMES_TO {
        let bytes = capture(file);
        let whole = hear(file, [bytes.as_slice()]);
        for cut in 0..bytes.len() {
            let heard = hear(file, [&bytes[..cut]]);
            cuts += 1;
            let shown = heard.shown();
            if heard.is_good() {
                let known = heard.calls.iter().all(|call| whole.calls.contains(call));
                assert!(known, "{file} cut at {cut}: {shown}");
                assert!(whole.words.starts_with(heard.words.trim_end()), "{file} cut at {cut}: {shown}");
                assert!(whole.is_good(), "{file} cut at {cut} ends well, and whole it does not");
            } else {
                let clear = heard.end == whole.end || ["cut off", "a web page"].contains(&heard.end.as_str());
                assert!(clear, "{file} cut at {cut}: {shown}");
            }
        }
    }
    assert!(cuts > 10_000, "{cuts}");
}

#[test]
fn two_answers_in_a_row_are_heard_apart() {
    // A reader belongs to one answer: what comes after its end changes nothing.
    for (file, expected) in COMES_TO.into_iter().filter(|(_, expected)| expected.ends_with("ended")) {
        let mut twice = capture(file);
        let is_over = [&b"\n\n"[..], b"\r\r", b"\r\n\r\n"].iter().any(|end| twice.ends_with(end));
        if !is_over || file.starts_with("no_done") {
            continue;
        }
        let once = twice.clone();
        twice.extend(once);
        assert_eq!(hear(file, [twice.as_slice()]).shown(), expected, "{file}");
    }
}
