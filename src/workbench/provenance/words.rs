//! The report as text: plain English, in the order in which a publisher would ask. Says nothing that the record does not hold.

use std::fmt::Write;

use super::{Report, Turns};
use crate::domain::price::of_unknown_cost;
use crate::domain::safe_text;
use crate::store::egress::Purpose;
use crate::workbench::provider::OFFLINE;

/// What a report does not prove.
pub(super) const NOT_PROVEN: [&str; 7] = [
    "It covers what was done with this program. What was written elsewhere and pasted in, by a person or by AI, is not known here.",
    "Words that the author read in an answer and then typed by hand count as the author's own.",
    "It holds no prompt and no answer, only their hashes and lengths: it says what was asked of whom and what was read, not what was said.",
    "A model's name is the one that was asked for. A server may use another, and may keep what it was sent.",
    "\"Intact and anchored\" means that no line was changed, left out, moved or added since this machine wrote it. One machine may have several records: it begins another where one is not as it was left. It can't show what was done to the records before that, or with this machine's own data folder, nor that a book's only record was exchanged for that of another book which has left its own folder. A book that was moved or copied stays anchored; a copy that is older than the book itself can't be told from one whose last lines were cut off, and is never called whole.",
    "\"Intact, not anchored\" means that the chain has no gap, and that each line bears the seal of the machine that began it (lines of versions that had no seals do not). On another machine a cut end does not show, and neither does a chain that somebody wrote anew as a whole, with a seal of its own.",
    "The list of what left the machine is kept on each machine by itself, is not hash-chained, and is not in git: it is complete for this machine only.",
];

/// Most files in a list.
const MOST_FILES: usize = 200;

/// Renders the report.
pub(super) fn text(report: &Report) -> String {
    let mut out = String::new();
    heading(&mut out, report);
    in_short(&mut out, report);
    who(&mut out, report);
    section(&mut out, "Which files board members read");
    if report.files_read.is_empty() {
        out.push_str("None.\n");
    }
    for file in report.files_read.iter().take(MOST_FILES) {
        line(&mut out, &format!("{}: {}, by {}", file.path, turns(file.turns), file.members.join(", ")));
    }
    more(&mut out, report.files_read.len());
    left(&mut out, report);
    written(&mut out, report);
    section(&mut out, "Whether the records are whole");
    if report.chains.is_empty() {
        out.push_str("Nothing is recorded yet.\n");
    }
    for chain in &report.chains {
        line(&mut out, &format!("Record {}: {}", chain.machine, chain.words));
    }
    section(&mut out, "What this does not prove");
    for sentence in &report.does_not_prove {
        line(&mut out, sentence);
    }
    safe_text::block(out.trim_end()).into_owned() + "\n"
}

fn heading(out: &mut String, report: &Report) {
    let by = report.author.as_ref().map(|author| format!(", by {author}")).unwrap_or_default();
    let _ = writeln!(out, "How AI was used for \"{}\"{by}\n", report.title);
    let _ = writeln!(out, "Made by {} on {}.", report.made_by, day(&report.made_at));
    match &report.period {
        Some((from, to)) if day(from) == day(to) => {
            let _ = writeln!(out, "The records are of {}.", day(from));
        }
        Some((from, to)) => {
            let _ = writeln!(out, "The records go from {} to {}.", day(from), day(to));
        }
        None => out.push_str("Nothing is recorded: no board member was asked.\n"),
    }
}

fn in_short(out: &mut String, report: &Report) {
    section(out, "In short");
    let Turns { asked, answered, cancelled, failed, killed } = report.turns;
    let cut_off = if killed > 0 {
        format!(", {} cut off when the program was killed", number(killed))
    } else {
        String::new()
    };
    let _ = writeln!(
        out,
        "The author asked board members {} in {}: {answered} answered, {cancelled} stopped by the author, {failed} failed{cut_off}.",
        count(asked, "question"),
        count(report.conversations, "conversation"),
    );
    let offline = report.models.iter().filter(|model| model.provider == OFFLINE).map(|model| model.turns);
    let offline: usize = offline.sum();
    if offline > 0 {
        let _ = writeln!(
            out,
            "Of these, {} went to the reader inside the program, which is no AI model, and {} to AI models.",
            number(offline),
            number(asked - offline),
        );
    }
    let fates = &report.proposals;
    let _ = writeln!(
        out,
        "Board members made {}. The author accepted {} as proposed and {} after changing the text, rejected {}, accepted and took back {}, and has not decided on {}.",
        count(fates.made, "proposal"),
        fates.accepted,
        fates.accepted_after_editing,
        fates.rejected,
        fates.undone,
        fates.waiting,
    );
    let written = &report.written;
    let (chars, came) = (number(written.manuscript_chars), number(written.manuscript_still_there));
    let _ = if written.not_known > 0 {
        writeln!(
            out,
            "Of the manuscript's {chars} characters as it is now, at least {came} came from accepted proposals; {} not known here.",
            are(written.not_known, "accepted proposal"),
        )
    } else {
        let share = share(written.manuscript_still_there, written.manuscript_chars);
        writeln!(
            out,
            "Of the manuscript's {chars} characters as it is now, {came} came from accepted proposals ({share})."
        )
    };
    out.push_str(
        "No board member can write into the book: the program gives AI no way to change a file. It can propose a change, the author sees it as a comparison, and only the author's own command writes it.\n",
    );
    if report.files_kept_from_ai > 0 {
        let before = match report.files_kept_from_ai_read_before {
            0 => String::new(),
            n => format!(" Of {} of them a board member had read something before that.", number(n)),
        };
        let files = count(report.files_kept_from_ai, "file");
        let _ = writeln!(out, "The author now keeps {files} from AI.{before}");
    }
}

fn who(out: &mut String, report: &Report) {
    section(out, "Who was asked");
    for member in &report.members {
        line(out, &format!("{}: {}", member.name, turns(member.turns)));
    }
    if report.members.is_empty() {
        out.push_str("Nobody.\n");
    }
    section(out, "Which models answered");
    for model in &report.models {
        let mut words = format!("{}, {}: {}", model.provider, model.model, turns(model.turns));
        if model.input_tokens + model.output_tokens > 0 {
            let (input, output) = (number(model.input_tokens as usize), number(model.output_tokens as usize));
            let _ = write!(words, ", {input} tokens in, {output} tokens out");
        }
        if model.cost > 0.0 {
            let at_least = if model.unpriced > 0 { "at least " } else { "" };
            let about = if model.estimated { "about " } else { "" };
            let _ = write!(words, ", {at_least}{about}{:.2} US dollars", model.cost);
        }
        if model.unpriced > 0 {
            let _ = write!(words, ", {}", of_unknown_cost(model.unpriced));
        }
        if model.provider == OFFLINE {
            words.push_str(" (inside the program: no AI model, and nothing leaves the machine)");
        }
        line(out, &words);
    }
    if report.models.is_empty() {
        out.push_str("None.\n");
    }
}

fn left(out: &mut String, report: &Report) {
    let sent = &report.sent;
    section(out, "What left this machine");
    if sent.requests == 0 {
        out.push_str("Nothing.\n");
        return;
    }
    let _ = writeln!(out, "{}, {} bytes in all.", count(sent.requests, "request"), number(sent.bytes));
    for to in &sent.destinations {
        let what = match to.purpose {
            Purpose::Turn => format!(", {}", to.model),
            Purpose::Embeddings => format!(", {}, texts for searching by meaning", to.model),
            Purpose::Check => format!(", {}, a test of the connection", to.model),
            Purpose::Models => ", the list of its models".to_owned(),
        };
        let bytes = number(to.bytes);
        line(out, &format!("{}{what}: {}, {bytes} bytes", to.destination, count(to.requests, "request")));
    }
    if sent.no_end_recorded > 0 {
        let _ = writeln!(
            out,
            "No end recorded: {}, where the program was killed.",
            count(sent.no_end_recorded, "request")
        );
    }
    if sent.unreadable_lines > 0 {
        let _ = writeln!(out, "{} of the record could not be read.", count(sent.unreadable_lines, "line"));
    }
    if !sent.files.is_empty() {
        out.push_str("Text of these files was in them:\n");
    }
    for file in sent.files.iter().take(MOST_FILES) {
        let (requests, words) = (count(file.requests, "request"), count(file.most_words, "word"));
        line(out, &format!("{}: {requests}, at most {words} at once", file.path));
    }
    more(out, sent.files.len());
}

fn written(out: &mut String, report: &Report) {
    section(out, "What came into the text from accepted proposals");
    let written = &report.written;
    if written.files.is_empty() && written.not_known == 0 {
        out.push_str("Nothing.\n");
    }
    for file in &written.files {
        let words = format!(
            "{}: {} characters added, {} of them still there; the file has {}",
            file.path,
            number(file.added),
            number(file.still_there),
            number(file.chars),
        );
        line(out, &words);
    }
    if written.not_known > 0 {
        let _ = writeln!(
            out,
            "What {} brought is not known here: the exact texts before and after are kept where it was accepted, and not in git.",
            count(written.not_known, "accepted proposal"),
        );
    }
}

fn section(out: &mut String, title: &str) {
    let _ = writeln!(out, "\n{title}\n{}", "-".repeat(title.len()));
}

fn line(out: &mut String, words: &str) {
    let _ = writeln!(out, "- {}", safe_text::line(words));
}

fn more(out: &mut String, all: usize) {
    if all > MOST_FILES {
        let _ = writeln!(out, "- and {} more, which the JSON form lists", all - MOST_FILES);
    }
}

fn turns(n: usize) -> String {
    count(n, "question")
}

fn count(n: usize, what: &str) -> String {
    format!("{} {what}{}", number(n), if n == 1 { "" } else { "s" })
}

/// `1 file is`, `2 files are`.
fn are(n: usize, what: &str) -> String {
    format!("{} {}", count(n, what), if n == 1 { "is" } else { "are" })
}

/// A number with commas.
pub(super) fn number(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn share(part: usize, whole: usize) -> String {
    match (part, whole) {
        (0, _) | (_, 0) => "none".to_owned(),
        _ if part * 1000 < whole => "less than 0.1 percent".to_owned(),
        _ => format!("{:.1} percent", part as f64 * 100.0 / whole as f64),
    }
}

fn day(at: &str) -> &str {
    at.get(..10).unwrap_or(at)
}
