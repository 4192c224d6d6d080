//! What a model says, told apart while it streams: words, thoughts, and calls that it wrote down instead of making them.
//!
//! Thoughts are folded away: `<think>`, `<thought>` and `<thinking>` at the beginning, on a line of their own, or with a word right after them, also where the
//! opening tag is missing because the server's template had written it already, and the channels of the Harmony format, whose tokens some servers let
//! through; a message to `functions.NAME` among these is a call. A tag may be cut anywhere. Nothing is ever looked for twice, so that time is linear in the text.
//!
//! Words about a tag stay words, and so does what stands before a thought: all that was said becomes a thought only by a closing tag that nothing else explains. A
//! tag after words that is never closed was none.
//!
//! Harmony: <https://github.com/openai/harmony>.

use serde_json::{Map, Value};

/// What was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// Words of the answer.
    Words(String),
    /// The model thinks.
    Thought,
    /// All words so far were thoughts.
    TakenBack,
    /// A call that was written as text.
    Call {
        /// Which tool.
        name: String,
        /// Its arguments, JSON.
        arguments: String,
    },
}

const OPENING: [&str; 3] = ["<think>", "<thought>", "<thinking>"];
const CLOSING: [&str; 3] = ["</think>", "</thought>", "</thinking>"];
const CALL: &str = "<tool_call>";
const CALL_END: &str = "</tool_call>";
const START: &str = "<|start|>";
const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";
/// What ends a Harmony message.
const ENDS: [&str; 3] = ["<|end|>", "<|return|>", "<|call|>"];
/// Tokens that mean nothing by themselves.
const STRAY: [&str; 3] = [MESSAGE, "<|constrain|>", "<|im_end|>"];

/// What the head of a Harmony message is made of, beside the tool that it goes to.
const HEAD: [&str; 13] = [
    "assistant",
    "system",
    "developer",
    "user",
    "tool",
    "analysis",
    "commentary",
    "final",
    "json",
    "code",
    "start",
    "channel",
    "constrain",
];

/// Longest head of a Harmony message; what is longer is none.
const MAX_HEAD: usize = 200;
/// Most white space between a tag and the call in it; behind more of it there is none.
const MAX_GAP: usize = 100;
/// Longest call that is read from text; what is longer is words.
const MAX_CALL: usize = 256 * 1024;

/// A model's text while it arrives.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and all combinations occur")]
pub struct Speech {
    state: State,
    /// What has come and is not told apart yet.
    held: String,
    /// A thought was opened or closed before, so that no closing tag can mean all that came before.
    thought: bool,
    /// A tag was a word, or thoughts come elsewhere: a closing tag among words is a word, too.
    about_tags: bool,
    /// Something else than white space was said since the beginning or the last thought.
    begun: bool,
    /// Words go on from earlier ones, so that white space before them counts.
    goes_on: bool,
    /// The last word said did not end its line.
    within_line: bool,
    /// White space was said last.
    spaced: bool,
    /// Words were said that are no thoughts.
    spoken: bool,
    /// An open tag after words, and all that followed it.
    aside: String,
    /// The tool that a Harmony message goes to.
    tool: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Words,
    /// Between tags.
    Tagged,
    /// In a channel that is not for the reader.
    Channel,
    /// In the head of a Harmony message.
    Head,
    /// In a written call, its tag held too; so many bytes of what is held hold no end of it.
    Call(usize),
    /// In a Harmony message to a tool; so many bytes of what is held hold no end of it.
    ToTool(usize),
}

impl Speech {
    /// Begins a part of its own. `goes_on`: right after other words. `elsewhere`: the model's thoughts come in a field for that.
    pub fn new(goes_on: bool, elsewhere: bool) -> Self {
        let mut speech = Self { goes_on, ..Self::default() };
        if elsewhere {
            speech.thinks_elsewhere();
        }
        speech
    }

    /// The model's thoughts come in a field for that: no closing tag can mean what is said here.
    pub fn thinks_elsewhere(&mut self) {
        (self.thought, self.about_tags) = (true, true);
    }

    /// Takes more of the text.
    pub fn push(&mut self, delta: &str, out: &mut Vec<Said>) {
        self.held.push_str(delta);
        while self.step(out) {}
    }

    /// Ends the text. Half a tag and half a call are words (a whole one whose end is missing is a call), and so are a mark of the Harmony format that no head follows and what came after words and an
    /// opening tag that was never closed.
    pub fn finish(&mut self, out: &mut Vec<Said>) {
        let rest = std::mem::take(&mut self.held);
        match self.state {
            State::Words => self.words(&rest, out),
            State::Call(_) => self.tell_call(&rest, rest.len(), out),
            // What ends the message is often taken for the end of the answer, and not sent.
            State::ToTool(_) => self.tell_tool(&rest, out),
            State::Head if !is_half_head(&rest) => self.words(&rest, out),
            State::Tagged if !self.aside.is_empty() => {
                let aside = std::mem::take(&mut self.aside) + &rest;
                self.words(&aside, out);
            }
            State::Tagged | State::Channel | State::Head => {}
        }
        self.state = State::Words;
    }

    /// Tells one thing apart; `false`: more has to come first.
    fn step(&mut self, out: &mut Vec<Said>) -> bool {
        match self.state {
            State::Words => self.step_words(out),
            State::Tagged => self.step_thought(&CLOSING, out),
            State::Channel => self.step_thought(&[ENDS[0], ENDS[1], ENDS[2], START], out),
            State::Head => self.step_head(out),
            State::Call(scanned) => self.step_call(scanned, out),
            State::ToTool(scanned) => self.step_to_tool(scanned, out),
        }
    }

    fn step_words(&mut self, out: &mut Vec<Said>) -> bool {
        let Some(at) = self.held.find('<') else {
            let words = std::mem::take(&mut self.held);
            self.words(&words, out);
            return false;
        };
        if at > 0 {
            let rest = self.held.split_off(at);
            let words = std::mem::replace(&mut self.held, rest);
            self.words(&words, out);
            return true;
        }
        let all = OPENING.iter().chain(&CLOSING).chain(&ENDS).chain(&STRAY).chain(&[CALL, START, CHANNEL]);
        let Some(mark) = all.clone().find(|mark| begins_with(&self.held, mark)) else {
            if all.into_iter().any(|mark| begins_with(mark, &self.held)) {
                return false;
            }
            self.held.remove(0);
            self.words("<", out);
            return true;
        };
        if OPENING.contains(mark) && self.begun && self.within_line {
            // In the middle of a line it is a word about a tag, unless a thought begins right behind it.
            let Some(next) = self.held[mark.len()..].chars().next() else { return false };
            if !(next.is_alphanumeric() || matches!(next, '\n' | '\r')) {
                self.about_tags = true;
                self.say_mark(mark, out);
                return true;
            }
        }
        if CLOSING.contains(mark) && self.begun && self.about_tags {
            self.say_mark(mark, out);
            return true;
        }
        if *mark == CALL {
            let after = &self.held[CALL.len()..];
            let call = after.trim_start();
            let is_near = after.len() - call.len() < MAX_GAP;
            match call.chars().next() {
                None if is_near => return false,
                Some('{' | '<') if is_near => self.state = State::Call(CALL.len()),
                _ => self.say_mark(mark, out),
            }
            return true;
        }
        if *mark == START || *mark == CHANNEL {
            // The head is read with its marks.
            self.state = State::Head;
            return true;
        }
        let tag: String = self.held.drain(..mark.len()).collect();
        if OPENING.contains(mark) {
            (self.state, self.thought) = (State::Tagged, true);
            if self.spoken {
                self.aside = tag;
            }
            out.push(Said::Thought);
        } else if CLOSING.contains(mark) && !std::mem::replace(&mut self.thought, true) && self.begun {
            out.extend([Said::Thought, Said::TakenBack]);
            self.spoken = false;
            self.pause();
        }
        true
    }

    fn step_thought(&mut self, ends: &[&str], out: &mut Vec<Said>) -> bool {
        let Some(at) = self.held.find('<') else {
            if !self.held.is_empty() {
                self.think_aside(self.held.len());
                out.push(Said::Thought);
            }
            return false;
        };
        self.think_aside(at);
        if let Some(end) = ends.iter().find(|end| begins_with(&self.held, end)) {
            if *end != START {
                self.held.drain(..end.len());
            }
            self.state = State::Words;
            self.aside.clear();
            self.pause();
            return true;
        }
        if ends.iter().any(|end| begins_with(end, &self.held)) {
            return false;
        }
        self.think_aside(1);
        true
    }

    /// Takes so many bytes as a thought; they are kept where they may turn out to be words.
    fn think_aside(&mut self, bytes: usize) {
        let thought = self.held.drain(..bytes);
        if !self.aside.is_empty() {
            self.aside.extend(thought);
        }
    }

    /// After a thought words begin anew, without white space, except right after others on the same line.
    fn pause(&mut self) {
        self.goes_on = self.begun && self.spoken && self.within_line && !self.spaced;
        self.begun = false;
    }

    /// A mark among words is one of them.
    fn say_mark(&mut self, mark: &str, out: &mut Vec<Said>) {
        let words: String = self.held.drain(..mark.len()).collect();
        self.words(&words, out);
    }

    fn step_head(&mut self, out: &mut Vec<Said>) -> bool {
        if let Some(at) = self.held.find(MESSAGE).filter(|at| *at <= MAX_HEAD) {
            let head: String = self.held.drain(..at + MESSAGE.len()).collect();
            if let Some(tool) = tool_in(&head) {
                (self.tool, self.state) = (tool, State::ToTool(0));
                return true;
            }
            let channel = head.rsplit_once(CHANNEL).map(|(_, rest)| rest);
            let channel = channel.and_then(|c| c.split(|c: char| !c.is_alphanumeric()).next());
            let is_for_the_reader = channel.is_none_or(|channel| channel == "final");
            self.state = if is_for_the_reader { State::Words } else { State::Channel };
            if !is_for_the_reader {
                self.thought = true;
                out.push(Said::Thought);
            }
            return true;
        }
        if self.held.len() > MAX_HEAD + MESSAGE.len() {
            self.state = State::Words;
            let mark = if self.held.starts_with(START) { START } else { CHANNEL };
            self.held.drain(..mark.len());
            self.words(mark, out);
            return true;
        }
        false
    }

    fn step_call(&mut self, scanned: usize, out: &mut Vec<Said>) -> bool {
        let from = self.held.floor_char_boundary(scanned.saturating_sub(CALL_END.len()));
        let Some(at) = self.held[from..].find(CALL_END) else {
            if self.held.len() > MAX_CALL {
                let text = std::mem::take(&mut self.held);
                self.state = State::Words;
                self.words(&text, out);
                return false;
            }
            self.state = State::Call(self.held.len());
            return false;
        };
        let text: String = self.held.drain(..from + at + CALL_END.len()).collect();
        self.state = State::Words;
        self.tell_call(&text, from + at, out);
        true
    }

    /// What stands in `text` between the tag and its end at `end` is a call where it reads as one; else all of it is words.
    fn tell_call(&mut self, text: &str, end: usize, out: &mut Vec<Said>) {
        match text.get(CALL.len()..end).and_then(written_call) {
            Some((name, arguments)) => out.push(Said::Call { name, arguments }),
            None => self.words(text, out),
        }
    }

    fn step_to_tool(&mut self, scanned: usize, out: &mut Vec<Said>) -> bool {
        let longest = CHANNEL.len();
        let from = self.held.floor_char_boundary(scanned.saturating_sub(longest));
        let ends = ENDS.iter().chain([&START, &CHANNEL]);
        let Some(at) = ends.filter_map(|end| self.held[from..].find(end)).min() else {
            if self.held.len() > MAX_CALL {
                self.held.clear();
                self.state = State::Channel;
                return false;
            }
            self.state = State::ToTool(self.held.len());
            return false;
        };
        let text: String = self.held.drain(..from + at).collect();
        self.state = State::Words;
        self.tell_tool(&text, out);
        true
    }

    /// A message to a tool is a call where it is JSON; else it is what the model thought of one.
    fn tell_tool(&mut self, text: &str, out: &mut Vec<Said>) {
        let name = std::mem::take(&mut self.tool);
        let text = text.trim();
        if is_object(text) {
            out.push(Said::Call { name, arguments: text.to_owned() });
        } else {
            self.thought = true;
            out.push(Said::Thought);
        }
        self.begun = false;
    }

    fn words(&mut self, words: &str, out: &mut Vec<Said>) {
        let words = if self.begun || self.goes_on { words } else { words.trim_start() };
        if words.is_empty() {
            return;
        }
        self.begun |= !words.trim_start().is_empty();
        self.spoken |= self.begun;
        self.within_line = !words.ends_with(['\n', '\r']);
        self.spaced = words.ends_with(char::is_whitespace);
        out.push(Said::Words(words.to_owned()));
    }
}

/// Whether this is the beginning of a Harmony message's head and no words about one: `<|start|>assistant<|channel|>comm`.
fn is_half_head(text: &str) -> bool {
    let after = [START, CHANNEL].iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text);
    let known = |word: &str| word.starts_with("to=") || HEAD.iter().any(|whole| whole.starts_with(word));
    let mut words = after.split(|c: char| c.is_whitespace() || "<|>".contains(c));
    !after.starts_with(char::is_whitespace) && words.all(known)
}

/// The tool in the head of a Harmony message: `<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>`, also with the tool before the channel.
fn tool_in(head: &str) -> Option<String> {
    let name = head.split_once("to=functions.")?.1;
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')).unwrap_or(name.len());
    (end > 0).then(|| name[..end].to_owned())
}

/// Whether `text` begins with `mark`, in any letter case.
fn begins_with(text: &str, mark: &str) -> bool {
    text.as_bytes().get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark.as_bytes()))
}

/// Reads what stands between `<tool_call>` and its end: a JSON object with name and arguments, or `<function=..>` with `<parameter=..>`.
fn written_call(text: &str) -> Option<(String, String)> {
    let text = text.trim();
    if let Ok(Value::Object(call)) = serde_json::from_str::<Value>(text) {
        let call = match call.get("function") {
            Some(Value::Object(function)) => function,
            _ => &call,
        };
        let name = call.get("name")?.as_str()?.to_owned();
        let arguments = call.get("arguments").or_else(|| call.get("parameters"));
        let arguments = match arguments {
            None | Some(Value::Null) => "{}".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        return is_object(&arguments).then_some((name, arguments));
    }
    let (name, rest) = text.strip_prefix("<function=")?.split_once('>')?;
    let mut rest = rest.trim().strip_suffix("</function>")?.trim_start();
    let mut arguments = Map::new();
    while let Some(parameter) = rest.strip_prefix("<parameter=") {
        let (field, value) = parameter.split_once('>')?;
        let (value, after) = value.split_once("</parameter>")?;
        arguments.insert(field.trim().to_owned(), in_json(value));
        rest = after.trim_start();
    }
    rest.is_empty().then(|| (name.trim().to_owned(), Value::Object(arguments).to_string()))
}

/// A written value: JSON where it is plainly that, else the text itself.
fn in_json(text: &str) -> Value {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let text = text.strip_suffix('\n').unwrap_or(text);
    match serde_json::from_str::<Value>(text) {
        Ok(value) if !value.is_string() => value,
        _ => text.into(),
    }
}

/// Whether a text is a whole JSON object, with nothing in it that a strict reader refuses: no half of a character, no number that is too large.
pub fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<Map<String, Value>>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Everything said, adjacent words joined, thoughts told once in a row.
    fn said(text: &str, size: usize) -> Vec<Said> {
        let (mut speech, mut out) = (Speech::default(), vec![]);
        let chars: Vec<char> = text.chars().collect();
        for delta in chars.chunks(size) {
            speech.push(&delta.iter().collect::<String>(), &mut out);
        }
        speech.finish(&mut out);
        let mut joined: Vec<Said> = vec![];
        for one in out {
            match (joined.last_mut(), one) {
                (Some(Said::Words(before)), Said::Words(more)) => before.push_str(&more),
                (Some(Said::Thought), Said::Thought) => {}
                (_, one) => joined.push(one),
            }
        }
        joined
    }

    fn words(text: &str) -> Said {
        Said::Words(text.into())
    }

    fn call(name: &str, arguments: &str) -> Said {
        Said::Call { name: name.into(), arguments: arguments.into() }
    }

    #[test]
    fn thoughts_are_folded_away_however_they_are_written_and_cut() {
        use Said::{TakenBack, Thought};
        let cases: Vec<(&str, Vec<Said>)> = vec![
            ("<think>hm < 3 </thin</think>\n\nMira.", vec![Thought, words("Mira.")]),
            ("\n<THOUGHT>hm</thought>Mira.", vec![Thought, words("Mira.")]),
            (
                "Let me see.\n</think>\n\nMira.",
                vec![words("Let me see.\n"), Thought, TakenBack, words("Mira.")],
            ),
            ("</think>Mira.", vec![words("Mira.")]),
            ("<think>a</think>A</think>B", vec![Thought, words("AB")]),
            ("One.\n<think>hm</think>\nTwo.", vec![words("One.\n"), Thought, words("Two.")]),
            ("The tag <think> is a tag.", vec![words("The tag <think> is a tag.")]),
            ("1 < 2 <b> <|x", vec![words("1 < 2 <b> <|x")]),
            ("<think>never ends", vec![Thought]),
            (
                "One.\n<think>\nShe thinks <this>.\nTwo.</thi",
                vec![words("One.\n"), Thought, words("<think>\nShe thinks <this>.\nTwo.</thi")],
            ),
            (
                "<think>hm</think>One.\n<THINK>Two.",
                vec![Thought, words("One.\n"), Thought, words("<THINK>Two.")],
            ),
            ("hm</think><think>never ends", vec![words("hm"), Thought, TakenBack, Thought]),
            ("Between <think> and </think> tags.", vec![words("Between <think> and </think> tags.")]),
            ("The `<think>` and `</think>` tags.", vec![words("The `<think>` and `</think>` tags.")]),
            ("Write <think></think>, then <think>", vec![words("Write <think></think>, then <think>")]),
            ("I look. <think>hm</think>She left.", vec![words("I look. "), Thought, words("She left.")]),
            ("I look. <think>\nhm\n</think>\n\nSo.", vec![words("I look. "), Thought, words("So.")]),
            ("I look.<think>hm</think>\n\nSo.", vec![words("I look."), Thought, words("\n\nSo.")]),
            ("Mira <thi", vec![words("Mira <thi")]),
            (
                "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Mira.<|return|>",
                vec![Thought, words("Mira.")],
            ),
            ("Mira.<|channel|>commentary", vec![words("Mira.")]),
            ("Mira.<|im_end|>", vec![words("Mira.")]),
            (
                "Mira.<|start|>assistant<|channel|>commentary to=functions.look <|constrain|>js",
                vec![words("Mira.")],
            ),
            (
                "The token <|start|> begins a message and these last words matter.",
                vec![words("The token <|start|> begins a message and these last words matter.")],
            ),
            ("It is <|channel|>", vec![words("It is ")]),
            ("Write <|channel|>Final, please.", vec![words("Write <|channel|>Final, please.")]),
        ];
        for (text, expected) in cases {
            for size in [1, 2, 3, 7, 1000] {
                assert_eq!(said(text, size), expected, "{text:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn where_thoughts_come_elsewhere_a_closing_tag_takes_nothing_back() {
        for (text, expected) in [
            ("He writes </think> on the wall.", "He writes </think> on the wall."),
            ("\n</think>\n\nShe left.", "She left."),
        ] {
            let (mut speech, mut out) = (Speech::new(false, true), vec![]);
            text.chars().for_each(|c| speech.push(&c.to_string(), &mut out));
            speech.finish(&mut out);
            let said: Option<String> = out
                .into_iter()
                .map(|said| if let Said::Words(words) = said { Some(words) } else { None })
                .collect();
            assert_eq!(said.as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_call_that_was_written_down_is_read_only_when_it_is_whole() {
        let cases: Vec<(&str, Vec<Said>)> = vec![
            (
                "<tool_call>\n{\"name\": \"look\", \"arguments\": {\"a\": 1}}\n</tool_call>",
                vec![call("look", "{\"a\":1}")],
            ),
            (
                "<tool_call><function=look>\n<parameter=name>\nMira\n</parameter><parameter=n>2</parameter></function></tool_call>",
                vec![call("look", "{\"name\":\"Mira\",\"n\":2}")],
            ),
            ("<tool_call><function=look></function></tool_call>", vec![call("look", "{}")]),
            (
                "Hm. <tool_call>{\"name\":\"look\"}</tool_call> So.",
                vec![words("Hm. "), call("look", "{}"), words(" So.")],
            ),
            ("<tool_call>{\"name\":\"look\",\"argum", vec![words("<tool_call>{\"name\":\"look\",\"argum")]),
            ("<tool_call>{\"name\":\"look\"", vec![words("<tool_call>{\"name\":\"look\"")]),
            ("<tool_call>\n{\"name\":\"look\",\"arguments\":{}}\n", vec![call("look", "{}")]),
            ("<tool_call>{nonsense}</tool_call>", vec![words("<tool_call>{nonsense}</tool_call>")]),
            (
                "It writes <tool_call>words</tool_call> there.",
                vec![words("It writes <tool_call>words</tool_call> there.")],
            ),
            ("It writes <tool_call> and stops.", vec![words("It writes <tool_call> and stops.")]),
            ("So: <tool_call> ", vec![words("So: <tool_call> ")]),
            (
                "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=functions.look <|constrain|>json<|message|>{\"a\":1}<|call|>",
                vec![Said::Thought, call("look", "{\"a\":1}")],
            ),
            (
                "<|start|>assistant to=functions.look<|channel|>commentary json<|message|>{\"a\": 1}",
                vec![call("look", "{\"a\": 1}")],
            ),
            (
                "<|channel|>commentary to=functions.look<|message|>{}<|call|><|start|>assistant<|channel|>final<|message|>So.",
                vec![call("look", "{}"), words("So.")],
            ),
            ("<|channel|>commentary to=functions.look<|message|>{\"a\":", vec![Said::Thought]),
            ("<|channel|>commentary to=functions.<|message|>{}<|call|>", vec![Said::Thought]),
            (
                "<|channel|>commentary to=browser.open<|message|>{}<|call|>So.",
                vec![Said::Thought, words("So.")],
            ),
        ];
        for (text, expected) in cases {
            for size in [1, 5, 1000] {
                assert_eq!(said(text, size), expected, "{text:?} in pieces of {size}");
            }
        }
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference_and_plain_words_stay_as_they_are(
            parts in prop::collection::vec(prop::sample::select(vec![
                "<think>", "</think>", "<thought>", "<tool_call>", "</tool_call>", "<|channel|>", "final", "analysis",
                "<|message|>", "<|end|>", "commentary to=functions.look ", "{}", "<|start|>", "<", "|", "é 🙂", "\n", "word ", "{\"name\":\"x\"}", "</",
            ]), 0..30),
            size in 1usize..9,
        ) {
            let text = parts.concat();
            prop_assert_eq!(said(&text, size), said(&text, usize::MAX));
            let plain: String = parts.iter().filter(|p| !p.contains(['<', '|'])).copied().collect();
            let plain = plain.trim_start();
            let expected = if plain.is_empty() { vec![] } else { vec![words(plain)] };
            prop_assert_eq!(said(plain, size), expected);
        }
    }
}
