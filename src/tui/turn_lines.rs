//! Lays one turn out as lines: question, tool rows, answer, proposal cards, how it ended.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::conversation::{FailureKind, ToolRecord, ToolStatus, Usage, Verdict, tiers_that_differ};
use crate::domain::ids::ProposalId;
use crate::domain::price::cost_in_words;
use crate::domain::safe_text;
use crate::proposal::Status;

use super::conversation::{Frame, State, TurnView};
use super::panes::chat::short;
use super::theme::Role;
use super::widgets::markdown::{self, Mark, MarkKind};
use super::widgets::text;

/// The frames of the spinner. Without motion the word beside it says the same.
const SPINNER: [&str; 4] = ["◐", "◓", "◑", "◒"];

/// A turn as lines, with the things in it that can be walked to.
#[derive(Debug, Clone, Default)]
pub(super) struct Laid {
    pub(super) lines: Vec<Line<'static>>,
    pub(super) stops: Vec<Stop>,
    /// The line where the words of the answer begin.
    pub(super) answer: usize,
}

impl Laid {
    pub(super) const EMPTY: Self = Self { lines: vec![], stops: vec![], answer: 0 };
}

/// Something in a turn that `Tab` stops at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stop {
    /// Its line in the turn.
    pub(super) line: usize,
    pub(super) what: What,
}

/// What a stop is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// The author's message.
    Question,
    /// A tool row, by its place.
    Row(usize),
    /// The answer.
    Answer,
    /// A quotation, by its place among the answer's quotes.
    Quote(usize),
    /// A proposal.
    Card(ProposalId),
}

/// Lays a turn out. `streamed` are the lines of an answer that still arrives, [`indented`].
pub(super) fn lay_out(turn: &TurnView, frame: &Frame<'_>, streamed: Vec<Line<'static>>) -> Laid {
    let mut laid = Laid::default();
    question(turn, frame, &mut laid);
    notices(turn, frame, &mut laid);
    rows(turn, frame, &mut laid);
    answer(turn, frame, streamed, &mut laid);
    for id in &turn.proposals {
        card(id, frame, &mut laid);
    }
    ending(turn, frame, &mut laid);
    cost(turn, frame, &mut laid);
    laid.lines.push(Line::default());
    laid
}

fn question(turn: &TurnView, frame: &Frame<'_>, laid: &mut Laid) {
    let bar = frame.theme.style(Role::User);
    laid.stops.push(Stop { line: laid.lines.len(), what: What::Question });
    for row in text::wrap(&turn.question, usize::from(frame.width).saturating_sub(2)) {
        laid.lines.push(Line::from(vec![
            Span::styled("▌ ", bar),
            Span::styled(row, frame.theme.style(Role::Emphasis)),
        ]));
    }
    if let Some(selection) = &turn.selection {
        let words = format!("▌ with a selection of {} words from {}", selection.words, selection.title);
        let words = text::fit(&words, usize::from(frame.width));
        laid.lines.push(Line::from(Span::styled(words, frame.theme.style(Role::Chip))));
    }
    laid.lines.push(Line::default());
}

fn notices(turn: &TurnView, frame: &Frame<'_>, laid: &mut Laid) {
    let style = frame.theme.style(Role::Warning);
    for notice in &turn.notices {
        for (i, row) in text::wrap(notice, usize::from(frame.width).saturating_sub(2)).into_iter().enumerate()
        {
            let mark = if i == 0 { "! " } else { "  " };
            laid.lines.push(Line::styled(format!("{mark}{row}"), style));
        }
    }
    if !turn.notices.is_empty() {
        laid.lines.push(Line::default());
    }
}

fn rows(turn: &TurnView, frame: &Frame<'_>, laid: &mut Laid) {
    if turn.tools.is_empty() {
        return;
    }
    if !frame.details && !turn.state.is_live() {
        let read: usize = turn.tools.iter().map(|t| t.results).sum();
        let failed = turn.tools.iter().filter(|t| t.status == ToolStatus::Failed).count();
        let mut words =
            format!("✓ looked up {} in the book: {}", times(turn.tools.len()), count(read, "result"));
        if failed > 0 {
            words.push_str(&format!(", {failed} failed"));
        }
        laid.stops.push(Stop { line: laid.lines.len(), what: What::Row(0) });
        laid.lines.push(Line::styled(
            text::fit(&words, usize::from(frame.width)),
            frame.theme.style(Role::ToolRow),
        ));
    } else {
        for (i, tool) in turn.tools.iter().enumerate() {
            laid.stops.push(Stop { line: laid.lines.len(), what: What::Row(i) });
            row(tool, frame, turn.open_rows.contains(&i), laid);
        }
    }
    laid.lines.push(Line::default());
}

/// Returns what was called, and what came of it.
pub(super) fn tool_words(tool: &ToolRecord) -> (String, String) {
    let symbol = if tool.status == ToolStatus::Done { "✓" } else { "✗" };
    let mut head = format!("{symbol} {}", tool.name);
    if !tool.arguments.is_empty() && tool.arguments != "{}" {
        head.push(' ');
        head.push_str(&arguments(&tool.arguments));
    }
    let tail = match tool.status {
        ToolStatus::Done => done_words(tool),
        ToolStatus::Failed => tool.error.clone().unwrap_or_else(|| "failed".to_owned()),
        _ => "cancelled".to_owned(),
    };
    (head, tail)
}

fn row(tool: &ToolRecord, frame: &Frame<'_>, open: bool, laid: &mut Laid) {
    let (symbol, role) = match tool.status {
        ToolStatus::Queued => ("·", Role::ToolRow),
        ToolStatus::Running => (SPINNER[frame.spin % SPINNER.len()], Role::ToolRunning),
        ToolStatus::Done => ("✓", Role::ToolDone),
        ToolStatus::Failed => ("✗", Role::ToolFailed),
        ToolStatus::Cancelled => ("⊘", Role::ToolRow),
    };
    let width = usize::from(frame.width);
    let style = frame.theme.style(role);
    let dim = frame.theme.style(Role::ToolRow);
    let mut head = format!("{symbol} {}", tool.name);
    if !tool.arguments.is_empty() && tool.arguments != "{}" {
        head.push(' ');
        head.push_str(&arguments(&tool.arguments));
    }
    laid.lines.push(Line::styled(text::fit(&head, width), style));
    let tail = match tool.status {
        ToolStatus::Queued => "waiting".to_owned(),
        ToolStatus::Running => "reading…".to_owned(),
        ToolStatus::Cancelled => "cancelled".to_owned(),
        ToolStatus::Failed => tool.error.as_deref().unwrap_or("failed").to_owned(),
        ToolStatus::Done => done_words(tool),
    };
    // Never torn: the words say who asked.
    let end = if tool.forced { " ·\u{a0}run\u{a0}by\u{a0}the\u{a0}program" } else { "" };
    let mut lines = in_rows(&tail, end, width.saturating_sub(2), if open { 40 } else { 3 });
    let time = format!(" · {} ms", tool.ms);
    if tool.status == ToolStatus::Done
        && let Some(last) = lines.last_mut()
        && text::width(last) + text::width(&time) + 2 <= width
    {
        // A time alone on a row says nothing that is worth the row.
        last.push_str(&time);
    }
    for line in lines {
        laid.lines.push(Line::styled(format!("  {line}"), dim));
    }
    if open {
        details(tool, frame, laid);
    }
}

/// Wraps words with their end into at most `most` rows. What is left out of the words is marked, and the end stays.
fn in_rows(words: &str, end: &str, width: usize, most: usize) -> Vec<String> {
    let whole = text::wrap(&format!("{words}{end}"), width);
    if whole.len() <= most {
        return whole;
    }
    let mut rows = text::wrap(words, width);
    let rest = rows.split_off((most - 1).min(rows.len())).join(" ");
    let last = text::fit(&rest, width.saturating_sub(text::width(end)));
    rows.push(text::fit(&format!("{last}{end}"), width));
    rows
}

/// Writes arguments as an author reads them: `name: Adrian Vale` for `{"name":"Adrian Vale"}`. They may be cut anywhere, so this goes by text.
fn arguments(json: &str) -> String {
    let mut words = json.trim_start_matches('{').trim_end_matches('}').to_owned();
    for (mark, plain) in
        [("\":\"", ": "), ("\",\"", ", "), ("\":", ": "), (",\"", ", "), ("\",", ", "), ("\"", "")]
    {
        words = words.replace(mark, plain);
    }
    words
}

fn done_words(tool: &ToolRecord) -> String {
    let mut words = String::new();
    if tool.kind.as_deref() == Some("web") {
        return tool.title.clone().unwrap_or_default();
    }
    match (&tool.title, tool.resolved.as_slice()) {
        _ if tool.results == 0 => words.push_str("nothing found"),
        (Some(title), [one]) => words.push_str(&format!("{title} → {one}")),
        (Some(title), [first, more @ ..]) => {
            words.push_str(&format!("{title} → {first} and {} more", more.len()));
        }
        (Some(title), []) => words.push_str(title),
        (None, [one]) => words.push_str(one.as_str()),
        (None, _) => words.push_str("done"),
    }
    // A count is never torn from its noun.
    let whole = |n: usize, noun: &str| format!(" ·\u{a0}{}", count(n, noun).replace(' ', "\u{a0}"));
    words.push_str(&whole(tool.results, "result"));
    if let Some(n) = tool.words {
        words.push_str(&whole(n, "word"));
    }
    if tool.truncated {
        words.push_str(" · cut");
    }
    if tool.missing {
        words.push_str(" · some not found");
    }
    words
}

fn details(tool: &ToolRecord, frame: &Frame<'_>, laid: &mut Laid) {
    let style = frame.theme.style(Role::Dim);
    let mut say = |words: String| {
        for line in text::wrap(&words, usize::from(frame.width).saturating_sub(4)) {
            laid.lines.push(Line::styled(format!("    {line}"), style));
        }
    };
    say(format!("call {}", tool.call_id));
    say(format!("arguments {}", tool.arguments));
    for path in &tool.resolved {
        say(format!("read {path}"));
    }
    if let Some(kind) = &tool.kind {
        say(format!("type {kind}"));
    }
}

fn answer(turn: &TurnView, frame: &Frame<'_>, streamed: Vec<Line<'static>>, laid: &mut Laid) {
    let width = frame.width.saturating_sub(2);
    let start = laid.lines.len();
    if let Some(grounded) = &turn.grounded {
        if grounded.shown.trim().is_empty() {
            return;
        }
        laid.stops.push(Stop { line: start, what: What::Answer });
        laid.lines.push(speaker(turn, frame));
        let start = laid.lines.len();
        let mut marks = vec![];
        for (index, placed) in grounded.quotes.iter().enumerate() {
            let kind = match (placed.quote.marked, placed.quote.verdict) {
                (true, Verdict::Missing) => MarkKind::Missing,
                (false, Verdict::Missing) => continue,
                (true, _) => MarkKind::Found,
                (false, _) => MarkKind::Neutral,
            };
            marks.push(Mark { range: placed.shown.clone(), kind, index });
        }
        let rendered = markdown::render(&grounded.shown, width, frame.theme, &marks);
        for (index, line) in rendered.marks {
            laid.stops.push(Stop { line: start + line, what: What::Quote(index) });
        }
        laid.answer = start;
        laid.lines.extend(rendered.lines.into_iter().map(indented));
    } else if !streamed.is_empty() {
        laid.stops.push(Stop { line: start, what: What::Answer });
        laid.lines.push(speaker(turn, frame));
        laid.answer = laid.lines.len();
        laid.lines.extend(streamed);
    } else {
        return;
    }
    laid.lines.push(Line::default());
}

/// Who answers.
fn speaker(turn: &TurnView, frame: &Frame<'_>) -> Line<'static> {
    let member = crate::persona::board::member(Some(&turn.persona));
    Line::from(vec![
        Span::styled(format!(" {} ", member.badge), frame.theme.style(Role::Badge)),
        Span::styled(format!(" {}", member.name), frame.theme.style(Role::Persona)),
    ])
}

/// Puts a line of an answer under its speaker.
pub(super) fn indented(mut line: Line<'static>) -> Line<'static> {
    line.spans.insert(0, Span::raw("  "));
    line
}

fn card(id: &ProposalId, frame: &Frame<'_>, laid: &mut Laid) {
    let width = usize::from(frame.width);
    laid.stops.push(Stop { line: laid.lines.len(), what: What::Card(id.clone()) });
    let Some(queued) = frame.proposals.get(id) else {
        laid.lines.push(Line::styled("  a proposal is on its way…", frame.theme.style(Role::Dim)));
        laid.lines.push(Line::default());
        return;
    };
    let (state, role) = state_words(queued.status, queued.proposal.edited);
    let proposal = &queued.proposal;
    let style = frame.theme.style(role);
    let frame_style = frame.theme.style(Role::Border);
    let inner = width.saturating_sub(4);
    let title = format!("─ Proposal · {} · {} ", proposal.subject, safe_text::line(&proposal.entry));
    let title = text::fit(&title, inner);
    let fill = (inner + 2).saturating_sub(text::width(&title));
    laid.lines.push(Line::from(vec![
        Span::styled("┌", frame_style),
        Span::styled(title, frame.theme.style(Role::Title)),
        Span::styled("─".repeat(fill), frame_style),
        Span::styled("┐", frame_style),
    ]));
    let mut boxed = |words: &str, style: Style| {
        for row in text::wrap(words, inner) {
            let pad = inner.saturating_sub(text::width(&row));
            laid.lines.push(Line::from(vec![
                Span::styled("│ ", frame_style),
                Span::styled(row, style),
                Span::raw(" ".repeat(pad)),
                Span::styled(" │", frame_style),
            ]));
        }
    };
    boxed(&proposal.summary, frame.theme.style(Role::Text));
    for file in &proposal.files {
        let verb = if file.base.is_some() { "changes" } else { "makes" };
        boxed(&format!("{verb} {}", file.path), frame.theme.style(Role::Dim));
    }
    for warning in &proposal.warnings {
        boxed(&format!("⚠ {warning}"), frame.theme.style(Role::Warning));
    }
    let next = match queued.status {
        Status::Pending | Status::Stale => format!("{state} · {} reviews it", frame.keys.review),
        Status::Applied => format!("{state} · {} opens it, u there undoes", frame.keys.review),
        Status::Rejected if queued.why.is_some() => {
            format!("{state}: {}", queued.why.as_deref().unwrap_or_default())
        }
        _ => state.to_owned(),
    };
    boxed(&next, style);
    laid.lines.push(Line::from(vec![Span::styled(format!("└{}┘", "─".repeat(inner + 2)), frame_style)]));
    laid.lines.push(Line::default());
}

/// Returns the words, with a symbol, and the colour for a proposal's state.
pub(super) fn state_words(status: Status, edited: bool) -> (&'static str, Role) {
    match (status, edited) {
        (Status::Pending, false) => ("○ pending", Role::Accent),
        (Status::Pending, true) => ("○ pending, edited by you", Role::Accent),
        (Status::Applied, false) => ("✓ applied", Role::Success),
        (Status::Applied, true) => ("✓ applied as you edited it", Role::Success),
        (Status::Rejected, _) => ("✗ rejected", Role::Dim),
        (Status::Undone, _) => ("↶ undone", Role::Dim),
        (Status::Stale, _) => ("⚠ the file has changed since", Role::Warning),
    }
}

fn ending(turn: &TurnView, frame: &Frame<'_>, laid: &mut Laid) {
    let spinner = SPINNER[frame.spin % SPINNER.len()];
    let running = frame.theme.style(Role::ToolRunning);
    let width = usize::from(frame.width);
    match &turn.state {
        State::Waiting => {
            for row in turn.retry.iter().flat_map(|why| text::wrap(why, width)) {
                laid.lines.push(Line::styled(row, frame.theme.style(Role::Warning)));
            }
            let again = if turn.retry.is_some() { " again" } else { "" };
            laid.lines.push(Line::styled(format!("{spinner} asking{again}…"), running));
        }
        State::Thinking => laid.lines.push(Line::styled(format!("{spinner} thinking…"), running)),
        State::Reading => laid.lines.push(Line::styled(format!("{spinner} reading the book…"), running)),
        State::Answering | State::Ending => {
            laid.lines.push(Line::styled(format!("{spinner} answering…"), running));
        }
        State::Done => {}
        State::Cancelled => {
            let words =
                if turn.has_arrived() { "⊘ stopped; what had arrived is kept" } else { "⊘ stopped" };
            laid.lines.push(Line::styled(words, frame.theme.style(Role::Warning)));
        }
        State::Killed => {
            // Only what was settled is known to be over: another window may still wait for it.
            let words = if turn.usage == Usage::default() {
                "⊘ no end was kept: the program was killed, or still waits in another window"
            } else {
                "⊘ cut off: the program was killed"
            };
            for row in text::wrap(words, width) {
                laid.lines.push(Line::styled(row, frame.theme.style(Role::Warning)));
            }
        }
        State::Failed(failure) => {
            if !turn.raw.trim().is_empty() {
                let words = "⊘ the answer breaks off here";
                laid.lines.push(Line::styled(words, frame.theme.style(Role::Warning)));
            }
            for row in text::wrap(&format!("✗ {}", failure.message), width) {
                laid.lines.push(Line::styled(row, frame.theme.style(Role::Error)));
            }
            for row in text::wrap(&failure.hint, width.saturating_sub(2)) {
                laid.lines.push(Line::styled(format!("  {row}"), frame.theme.style(Role::Dim)));
            }
            if failure.kind == FailureKind::Unreachable && !frame.keys.offline.is_empty() {
                let words = format!("{} asks the offline reader instead", frame.keys.offline);
                for row in text::wrap(&words, width.saturating_sub(2)) {
                    laid.lines.push(Line::styled(format!("  {row}"), frame.theme.style(Role::Accent)));
                }
            }
        }
    }
}

/// The last row of a turn that a server worked on, also of one that was stopped: tokens, cost, and the tier where it is another than was asked for.
fn cost(turn: &TurnView, frame: &Frame<'_>, laid: &mut Laid) {
    let usage = &turn.usage;
    let Some(input) = usage.input_tokens else { return };
    // What came back of a turn that was killed is not known.
    if turn.state.is_live() || (usage.output_tokens.is_none() && turn.state != State::Killed) {
        return;
    }
    let mut parts = vec![turn.model.clone()];
    let about = if usage.estimated { "about " } else { "" };
    parts.push(match usage.cached_tokens.unwrap_or(0) {
        0 => format!("{about}{} in", short(input)),
        cached => format!("{about}{} in ({} cached)", short(input), short(cached)),
    });
    parts.extend(usage.output_tokens.map(|output| match usage.reasoning_tokens.unwrap_or(0) {
        0 => format!("{} out", short(output)),
        thought => format!("{} out ({} thoughts)", short(output), short(thought)),
    }));
    parts.extend(cost_in_words(usage));
    let tiers = || tiers_that_differ(turn.tier_asked.as_deref(), turn.tier.as_deref());
    let usual = |tier: &String| matches!(tier.as_str(), "default" | "auto" | "standard");
    if frame.tiers {
        parts.extend(tiers().or_else(|| turn.tier.clone().filter(|tier| !usual(tier))));
    }
    for row in text::wrap(&parts.join(" \u{b7} "), usize::from(frame.width)) {
        laid.lines.push(Line::styled(row, frame.theme.style(Role::Dim)));
    }
}

/// Returns `1 result`, `2 results`.
pub(super) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{} {noun}s", thousands(n)) }
}

fn times(n: usize) -> String {
    match n {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{n} times"),
    }
}

/// Writes a number with a comma between thousands.
pub(super) fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(d);
    }
    out
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyCode;

    use crate::config::money::Budget;
    use crate::domain::conversation::Usage;
    use crate::domain::ids::{SessionId, TurnId};
    use crate::tui::conversation::State;
    use crate::tui::msg::Msg;
    use crate::tui::tests::Author;
    use crate::tui::widgets::text;
    use crate::workbench::money::{Month, Standing};

    #[test]
    fn a_row_that_is_cut_says_so_and_keeps_its_end() {
        let end = " ·\u{a0}run\u{a0}by\u{a0}the\u{a0}program";
        let words =
            "Adrian Vale → codex/characters/adrian-vale/dossier.md and 1 more · 2 results · 1,204 words";
        for (width, most) in [(36, 2), (36, 3), (24, 2), (60, 1), (120, 3), (10, 1)] {
            let rows = super::in_rows(words, end, width, most);
            assert!(rows.len() <= most && rows.iter().all(|row| text::width(row) <= width), "{rows:?}");
            let last = rows.last().unwrap().replace('\u{a0}', " ");
            let is_whole = rows.join(" ").contains("1,204 words");
            assert!(is_whole || last.contains('…'), "{rows:?}");
            assert!(width < 24 || last.ends_with("run by the program"), "{rows:?}");
        }
        assert_eq!(super::in_rows("two words", "", 20, 1), ["two words"]);
    }

    #[test]
    fn the_status_row_names_the_model_that_the_next_question_goes_to() {
        let mut author = Author::at(120, 40);
        author.key(KeyCode::F(3));
        let own = std::collections::BTreeMap::from([("continuity-editor".to_owned(), "deep-1".to_owned())]);
        author.app.provider = ("my-box".into(), "quick-1".into());
        author.happens(Msg::OwnModels(own));
        author.sees_words("─ my-box · quick-1 ─");
        author.happens(Msg::ChoosePersona("continuity-editor"));
        author.sees_words("─ my-box · deep-1 ─");
        // A turn that runs keeps the model that it was sent to.
        author.app.chat.turns.push(crate::tui::conversation::TurnView::asked(
            "continuity-editor".into(),
            "And now?".into(),
            None,
        ));
        author.happens(Msg::Began(TurnId::mint(), SessionId::mint()));
        author.happens(Msg::ChoosePersona("first-time-reader"));
        author.sees_words("─ my-box · deep-1");
        author.happens(Msg::Connected(("other".into(), "m".into()), "other answers next.".into()));
        assert!(author.app.models.is_empty(), "the models are those of the provider that answers now");
    }

    #[test]
    fn an_answer_ends_with_what_it_cost_and_the_status_row_has_the_sums() {
        let mut author = Author::at(200, 50);
        author.asks("What should I remember about Adrian?");
        let turn = author.app.chat.turns.last_mut().unwrap();
        turn.usage = Usage {
            input_tokens: Some(8_400),
            cached_tokens: Some(6_000),
            output_tokens: Some(366),
            cost: Some(0.0021),
            ..Usage::default()
        };
        turn.model = "gpt-5-mini".into();
        (turn.tier_asked, turn.tier) = (Some("flex".into()), Some("default".into()));
        turn.touch();
        author.app.chat.used = turn.usage;
        let month = Month { month: "2026-11".into(), dollars: 4.8, responses: 9, ..Month::default() };
        let budget = Budget { warn: Some(4.5), refuse: Some(10.0), ..Budget::default() };
        author.happens(Msg::Standing(Box::new(Standing { month, budget })));
        author.sees_words("gpt-5-mini · 8.4k in (6.0k cached) · 366 out · $0.0021");
        author.sees_words("flex asked,");
        author.sees_words("$0.0021 here · ⚠ $4.80 of $10.00 this month");
        author.app.look.tier_status = false;
        author.lay_out();
        assert!(!author.sees().contains("flex asked,"));
    }

    #[test]
    fn a_turn_that_was_killed_says_so_and_what_is_known_of_its_cost() {
        let mut author = Author::at(200, 50);
        author.asks("What should I remember about Adrian?");
        let turn = author.app.chat.turns.last_mut().unwrap();
        (turn.state, turn.model) = (State::Killed, "gpt-5-mini".into());
        let known = Usage { input_tokens: Some(8_400), estimated: true, ..Usage::default() };
        turn.usage = Usage { at_least: Some(0.5), unpriced: 1, ..known };
        turn.touch();
        author.lay_out();
        author.sees_words("⊘ cut off: the program was killed");
        author.sees_words("gpt-5-mini \u{b7} about 8.4k in \u{b7} at least about $0.50; 1 request");
        let turn = author.app.chat.turns.last_mut().unwrap();
        turn.usage = Usage::default();
        turn.touch();
        author.lay_out();
        author.sees_words("⊘ no end was kept");
    }

    #[test]
    fn an_answer_that_was_stopped_ends_with_what_it_cost_too_and_what_nobody_knows_is_said() {
        let mut author = Author::at(200, 50);
        author.asks("What should I remember about Adrian?");
        let turn = author.app.chat.turns.last_mut().unwrap();
        turn.state = State::Cancelled;
        turn.model = "gpt-5-mini".into();
        let usage = Usage { input_tokens: Some(8_400), output_tokens: Some(12), ..Usage::default() };
        turn.usage = Usage { cost: Some(0.0021), estimated: true, ..usage };
        turn.touch();
        author.lay_out();
        author.sees_words("gpt-5-mini \u{b7} about 8.4k in \u{b7} 12 out \u{b7} about $0.0021");
        let turn = author.app.chat.turns.last_mut().unwrap();
        turn.usage = Usage { at_least: Some(0.5), unpriced: 2, ..usage };
        turn.touch();
        author.app.chat.used = turn.usage;
        let month = Month { dollars: 4.8, responses: 9, unpriced: 2, estimated: 1, ..Month::default() };
        author.happens(Msg::Standing(Box::new(Standing { month, budget: Budget::default() })));
        author.sees_words("12 out \u{b7} at least $0.50; 2 requests of unknown");
        author.sees_words("at least $0.50 here, 2 unknown");
        author.sees_words("month at least about $4.80");
        author.app.chat.used = Usage::default();
        author.lay_out();
        author.sees_words("at least about $4.80 this month, 2 unknown");
    }

    #[test]
    fn the_sums_of_conversation_and_month_are_in_the_status_row_of_a_usual_window() {
        for (width, refuse, seen) in [
            (200, None, ["$0.0210 here", "$1.30 this month"]),
            (160, None, ["openai · gpt-5-mini · $0.0210 here", "month $1.30"]),
            (120, None, ["$0.0210 here", "$1.30"]),
            (120, Some(10.0), ["$0.0210 here", "$1.30"]),
            (80, Some(10.0), ["$1.30", ""]),
            (80, None, ["$0.0210 here", ""]),
        ] {
            let mut author = Author::at(width, 40);
            author.key(KeyCode::F(3));
            author.asks("What should I remember about Adrian?");
            author.app.provider = ("openai".into(), "gpt-5-mini".into());
            let usage = Usage { input_tokens: Some(8_400), output_tokens: Some(12), ..Usage::default() };
            author.app.chat.used = Usage { cost: Some(0.021), ..usage };
            let month = Month { dollars: 1.3, responses: 9, ..Month::default() };
            let budget = Budget { refuse, ..Budget::default() };
            author.happens(Msg::Standing(Box::new(Standing { month, budget })));
            let screen = author.sees();
            assert!(seen.iter().all(|words| screen.contains(words)), "{width}: {screen}");
        }
    }
}
