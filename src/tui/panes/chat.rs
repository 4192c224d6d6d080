//! The chat pane: persona, conversation, status row, chip, input.

use std::sync::Arc;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use crate::domain::passage::count_words;
use crate::domain::price::{cost_in_words, dollars};
use crate::workbench::money::{Month, Standing};
use crate::workbench::{Member, read_to};

use super::super::app::App;
use super::super::conversation::{Keys, TurnView};
use super::super::document::ends_of;
use super::super::layout::Pane;
use super::super::theme::Role;
use super::super::turn_lines::count;
use super::super::widgets::text;
use super::{heading, hints};

/// Most rows that the input grows to.
const INPUT_ROWS: u16 = 8;

/// Where the parts of the pane are.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Parts {
    pub(in super::super) conversation: Rect,
    status: Rect,
    chip: Option<Rect>,
    input: Rect,
    hint: Rect,
}

impl Parts {
    pub(in super::super) fn of(app: &App, area: Rect) -> Self {
        let area = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
        let inner = usize::from(area.width.saturating_sub(3)).max(1);
        let room = area.height.saturating_sub(6).clamp(1, INPUT_ROWS);
        let input_rows = rows_of_input(app.chat.input.lines(), inner, room);
        let chip_rows = u16::from(app.chat.chip_words.is_some());
        let hint = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
        let input = Rect { y: hint.y.saturating_sub(input_rows), height: input_rows, ..area };
        let chip = (chip_rows > 0).then(|| Rect { y: input.y.saturating_sub(1), height: 1, ..area });
        let status = Rect { y: input.y.saturating_sub(1 + chip_rows), height: 1, ..area };
        let top = area.y + 1;
        let conversation = Rect { y: top, height: status.y.saturating_sub(top), ..area };
        Self { conversation, status, chip, input, hint }
    }
}

/// Returns how many rows the input takes, as far as there is room for them: what lies beyond is not looked at.
fn rows_of_input(lines: &[String], width: usize, room: u16) -> u16 {
    let mut rows = 0;
    for line in lines {
        // More bytes than this fill the room, whatever is written in them.
        let near = &line[..line.floor_char_boundary(usize::from(room) * width * 8)];
        rows += text::wrap(near, width).len().max(1);
        if rows >= usize::from(room) {
            return room;
        }
    }
    (rows as u16).max(1)
}

/// Says which selection would go with the next question. What was captured is counted once, what is selected as it grows.
fn lay_out_chip(app: &mut App) {
    let says = |words: usize, ends: &str| {
        (words > 0 || !ends.is_empty()).then(|| format!("{} · {ends}", count(words, "word")))
    };
    let Some(chip) = &app.chat.chip else {
        let selected = app.document().and_then(|d| d.selected.as_ref()).filter(|s| s.by_author);
        app.chat.chip_words = selected.and_then(|s| says(s.words, &s.ends));
        app.chat.chip_text = None;
        return;
    };
    if app.chat.chip_text.as_ref().is_none_or(|text| !Arc::ptr_eq(text, &chip.text)) {
        let text = Arc::clone(&chip.text);
        app.chat.chip_words = says(count_words(&text), &ends_of(&text, ""));
        app.chat.chip_text = Some(text);
    }
}

/// Lays the conversation out before it is drawn.
pub(in super::super) fn lay_out(app: &mut App, area: Rect) {
    lay_out_chip(app);
    let parts = Parts::of(app, area);
    let size = (parts.conversation.width, parts.conversation.height);
    app.chat.tiers = app.look.tier_status;
    let key = |name: &str| app.keymap.key_of(name).unwrap_or_default();
    let keys = Keys { review: key("next-proposal"), offline: key("ask-offline") };
    app.chat.lay_out(size, &app.theme, (app.look.tool_rows, app.spin), &app.proposals, &keys);
}

/// Draws the pane. Returns where the cursor is, when the pane has it.
pub(in super::super) fn draw(app: &App, frame: &mut Frame<'_>, area: Rect) -> Option<Position> {
    let theme = &app.theme;
    let member = crate::persona::board::member(Some(&app.chat.persona));
    let focused = app.focus == Pane::Chat;
    let key = app.keymap.key_of("choose-persona").unwrap_or_default();
    heading(frame, area, theme, focused, &title(app, member, usize::from(area.width)), &[&key]);
    let parts = Parts::of(app, area);
    if app.chat.turns.is_empty() {
        welcome(app, frame, parts.conversation);
    } else {
        conversation(app, frame, parts.conversation);
    }
    status(app, frame, parts.status);
    if let (Some(row), Some(words)) = (parts.chip, &app.chat.chip_words) {
        let words = text::fit(&format!(" ❝ {words} "), usize::from(row.width));
        frame.render_widget(Span::styled(words, theme.style(Role::Chip)), row);
    }
    let at = input(app, frame, parts.input, focused);
    hint(app, frame, parts.hint);
    focused.then_some(at)
}

/// Whom a question goes to, and up to where it reads if it reads blind.
fn title(app: &App, member: &Member, width: usize) -> String {
    let name = format!("{} {}", member.badge, member.name);
    let current = app.document().map(|d| &d.path);
    let Some(read_to) = read_to(&app.book, member, current, app.last_chapter.as_ref()) else { return name };
    let blind = match read_to.number {
        Some(number) => format!("blind to ch. {number}"),
        None => "blind".to_owned(),
    };
    let whole = format!("{name} · {blind}");
    // How far it reads is worth more than its name.
    if text::width(&whole) + 10 > width { format!("{} · {blind}", member.badge) } else { whole }
}

fn conversation(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let first = app.chat.first_line();
    let (mut line, mut y) = (0, area.y);
    let walked = app.chat.at;
    for (index, turn) in app.chat.turns.iter().enumerate() {
        let height = app.chat.heights.get(index).copied().unwrap_or(0);
        if line + height <= first {
            line += height;
            continue;
        }
        let Some(laid) = turn.laid() else { continue };
        let marked = walked.filter(|(t, _)| *t == index).and_then(|(_, s)| laid.stops.get(s)).map(|s| s.line);
        for (i, row) in laid.lines.iter().enumerate().skip(first.saturating_sub(line)) {
            if y >= area.bottom() {
                break;
            }
            let place = Rect { y, height: 1, ..area };
            frame.render_widget(row, place);
            if marked == Some(i) {
                frame.buffer_mut().set_style(place, app.theme.style(Role::CursorLine));
                frame.buffer_mut().set_stringn(
                    area.x.saturating_sub(1),
                    y,
                    "▸",
                    1,
                    app.theme.style(Role::Accent),
                );
            }
            y += 1;
        }
        line += height;
    }
    // The blank line after the last turn is nothing to go and look at.
    let below = app.chat.lines_below().saturating_sub(1);
    if below > 0 && area.height > 1 {
        let words = format!(" ↓ {} more ", count(below, "line"));
        let width = text::width(&words).min(usize::from(area.width)) as u16;
        let place = Rect { x: area.right() - width, y: area.bottom() - 1, width, height: 1 };
        frame.render_widget(Line::styled(words, app.theme.style(Role::Badge)), place);
    }
}

/// What stands in an empty conversation: what can be asked, and who answers.
fn welcome(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let member = crate::persona::board::member(Some(&app.chat.persona));
    let theme = &app.theme;
    let width = usize::from(area.width.saturating_sub(2));
    let name = app.book.entries.iter().find(|e| e.entry_type == crate::domain::codex::EntryType::Character);
    let mut lines: Vec<Line<'_>> = vec![Line::default()];
    let mut say = |words: &str, role: Role| {
        let indent = words.len() - words.trim_start().len();
        let rows = text::wrap(words.trim_start(), width.saturating_sub(indent));
        let pad = " ".repeat(indent);
        lines.extend(rows.into_iter().map(|row| Line::styled(format!("{pad}{row}"), theme.style(role))));
    };
    say(&format!("Ask the {} about the book: {}.", member.name, member.purpose), Role::Text);
    say(" ", Role::Dim);
    if let Some(entry) = name {
        say(&format!("  What should I remember about {}?", entry.name), Role::Emphasis);
    }
    say("  Which characters are in the Codex?", Role::Emphasis);
    let select = app.keymap.key_of("ask-about-selection").unwrap_or_default();
    say(&format!("  Select a passage, {select}: How does this read?"), Role::Emphasis);
    say(" ", Role::Dim);
    if app.provider.0 == "offline" {
        say(
            "The offline reader answers: no model, no network. It looks things up and measures prose. Connect a provider from the palette to ask a model.",
            Role::Dim,
        );
    }
    for (line, y) in lines.into_iter().zip(area.y..area.bottom()) {
        frame.render_widget(line, Rect { x: area.x, y, width: area.width, height: 1 });
    }
}

fn status(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let theme = &app.theme;
    let width = usize::from(area.width);
    let ways = status_ways(app);
    let mut words = ways.iter().map(|parts| parts.join(" · "));
    let words =
        words.clone().find(|words| text::width(words) + 4 <= width).or(words.next_back()).unwrap_or_default();
    let line = format!("─ {} ", text::fit(&words, width.saturating_sub(4)));
    let fill = width.saturating_sub(text::width(&line));
    let role = if app.focus == Pane::Chat { Role::BorderFocused } else { Role::Border };
    let line = Line::from(vec![
        Span::styled(line, theme.style(Role::Dim)),
        Span::styled("─".repeat(fill), theme.style(role)),
    ]);
    frame.render_widget(line, area);
}

/// What the status row can say, the fullest first; the last is what is missed most where there is little room.
fn status_ways(app: &App) -> Vec<Vec<String>> {
    if let Some(wait) = wait(app) {
        let stop = app.keymap.key_of("cancel").map(|key| format!("{key} stops"));
        return from_each(
            &std::iter::once(format!("asks again in {wait} s")).chain(stop).collect::<Vec<_>>(),
        );
    }
    let running = app.chat.turns.last().filter(|turn| app.chat.is_busy() && !turn.provider.is_empty());
    let (provider, model) =
        running.map_or_else(|| app.answers(), |turn| (turn.provider.as_str(), turn.model.as_str()));
    let mut names = vec![provider.to_owned()];
    if provider != model && !model.is_empty() {
        names.push(model.to_owned());
    }
    if let Some(turn) = app.chat.turns.last().filter(|_| app.chat.is_busy()) {
        names.extend(so_far(app, turn));
        return from_each(&names);
    }
    let here = &app.chat.used;
    let here = match (here.unknown(), here.known()) {
        (0, known) if known > 0.0 => cost_in_words(here).map(|cost| format!("{cost} here")),
        (0, _) => None,
        (unknown, known) => Some(format!("at least {} here, {unknown} unknown", dollars(known))),
    };
    let spent = |month: &Month| month.dollars > 0.0 || month.is_at_least();
    let Some(standing) = app.standing.as_ref().filter(|standing| spent(&standing.month)) else {
        names.extend(here);
        return from_each(&names);
    };
    let (long, short) = month_in_words(standing);
    let both = |from: usize, month: &String| {
        names[from..].iter().chain(here.as_ref()).chain([month]).cloned().collect::<Vec<_>>()
    };
    // The provider's name goes first, then the model's: what was said longest ago is missed least.
    let mut ways: Vec<_> =
        (0..=names.len()).flat_map(|from| [both(from, &long), both(from, &short)]).collect();
    ways.push(vec![if standing.budget.is_set() { short } else { here.unwrap_or(short) }]);
    ways
}

/// Tier, tokens, cost and round of a turn that runs, as far as they are known.
fn so_far(app: &App, turn: &TurnView) -> Vec<String> {
    let mut parts: Vec<String> = turn.tier.clone().filter(|_| app.look.tier_status).into_iter().collect();
    if let (Some(input), Some(output)) = (turn.usage.input_tokens, turn.usage.output_tokens) {
        parts.push(format!("{} in, {} out", short(input), short(output)));
    }
    parts.extend(cost_in_words(&turn.usage).filter(|_| turn.usage.cost != Some(0.0)));
    if turn.round.1 > 0 {
        parts.push(format!("round {} of {}", turn.round.0, turn.round.1));
    }
    parts
}

/// All of `parts`, then without the first of them, and so on to the last alone.
fn from_each(parts: &[String]) -> Vec<Vec<String>> {
    (0..parts.len()).map(|from| parts[from..].to_vec()).collect()
}

/// What this month has cost, at length and in short.
fn month_in_words(standing: &Standing) -> (String, String) {
    if standing.warns() {
        let of = standing.budget.refuse.map(|most| format!(" of {}", dollars(most))).unwrap_or_default();
        return (format!("\u{26a0} {}", standing.words()), format!("\u{26a0} month {}{of}", standing.sum()));
    }
    let unknown = match standing.month.unpriced {
        0 => String::new(),
        n => format!(", {n} unknown"),
    };
    (format!("{} this month{unknown}", standing.sum()), format!("month {}", standing.sum()))
}

/// Seconds until the running turn is asked again, the last one included.
fn wait(app: &App) -> Option<u64> {
    let turn = app.chat.turns.last().filter(|_| app.chat.is_busy())?;
    let left = turn.asks_again?.checked_duration_since(app.now).filter(|left| !left.is_zero())?;
    Some(left.as_millis().div_ceil(1000) as u64)
}

/// Writes a number of tokens in little space: `366`, `8.4k`.
pub(in super::super) fn short(tokens: u64) -> String {
    if tokens < 1000 { tokens.to_string() } else { format!("{:.1}k", tokens as f64 / 1000.0) }
}

fn input(app: &App, frame: &mut Frame<'_>, area: Rect, focused: bool) -> Position {
    let theme = &app.theme;
    let role = if focused { Role::Accent } else { Role::Dim };
    frame.render_widget(Span::styled("›", theme.style(role)), Rect { width: 1.min(area.width), ..area });
    let field = Rect { x: area.x + 2, width: area.width.saturating_sub(2), ..area };
    if app.chat.input.is_empty() {
        let member = crate::persona::board::member(Some(&app.chat.persona));
        let words = text::fit(&format!("Ask the {}", member.name), usize::from(field.width));
        frame.render_widget(Span::styled(words, theme.style(Role::Dim)), field);
        return Position::new(field.x, field.y);
    }
    frame.render_widget(&app.chat.input, field);
    let cursor = app.chat.input.screen_cursor();
    let row = cursor.row.saturating_sub(usize::from(app.chat.input.scroll_offset().0));
    let y = field.y + (row as u16).min(field.height.saturating_sub(1));
    let x = field.x + (cursor.col as u16).min(field.width.saturating_sub(1));
    Position::new(x, y)
}

fn hint(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let key = |name: &str, words: &str| {
        app.keymap.key_of(name).map_or_else(String::new, |key| format!("{key} {words}"))
    };
    let all = if app.chat.is_busy() {
        vec![key("cancel", "stops")]
    } else if app.chat.at.is_some() && app.chat.input.is_empty() {
        vec![
            key("open-row", "opens"),
            key("copy-row", "copies"),
            key("edit-last", "edits"),
            key("retry", "asks again"),
            key("fork-here", "forks"),
            key("cancel", "back"),
        ]
    } else if app.chat.editing {
        vec![key("send", "sends it instead"), key("cancel", "leaves it as it was")]
    } else {
        let peek = if app.look.peek_key { key("peek", "peek") } else { String::new() };
        vec![key("send", "sends"), key("new-line", "new line"), peek, key("next-row", "walks")]
    };
    hints(frame, area, &app.theme, &all);
}
