//! One value of `scritorio.toml`, changed or added in place. Comments, order, line ends and everything else stay, byte for byte.
//!
//! A parser says where the value stands. The result is read again: if anything but the one value means something else than before,
//! there is no result.

use toml_edit::{Document, DocumentMut, Item, Table, TableLike, Value};

use crate::proposal::diff::line_end_of;

/// Sets the text at `tables` and `key`, e.g. `["board", "writing-coach"]` and `editable`. `None`: the file can't be changed safely.
pub fn set_text(text: &str, tables: &[&str], key: &str, value: &str) -> Option<String> {
    let (bom, body) = without_bom(text);
    let eol = line_end_of(body);
    let literal = literal(value, eol);
    let document = Document::parse(body).ok()?;
    let expected = expected(body, tables, key, value)?;
    let line = format!("{} = {literal}", toml_edit::Key::new(key));
    let header = tables.iter().map(|t| toml_edit::Key::new(*t).to_string()).collect::<Vec<_>>().join(".");
    let edits = [
        replaced(body, document.as_table(), tables, key, &literal),
        inserted(body, document.as_table(), tables, &line, eol),
        Some(appended(body, &format!("[{header}]{eol}{line}"), eol)),
    ];
    let fits = |edited: &String| edited.parse().is_ok_and(|d: DocumentMut| meaning(d.as_table()) == expected);
    edits.into_iter().flatten().find(fits).map(|edited| [bom, &edited].concat())
}

/// Adds a text to the list at `tables` and `key`, before the item at `before` or, with `None`, at the end. The list has items.
/// `None`: there is no such list, or it can't be changed safely.
pub fn add_item(text: &str, tables: &[&str], key: &str, before: Option<usize>, item: &str) -> Option<String> {
    let (bom, body) = without_bom(text);
    let eol = line_end_of(body);
    let document = Document::parse(body).ok()?;
    let found = table_of(document.as_table(), tables)?.get(key)?.as_array()?;
    let spans: Option<Vec<_>> = found.iter().map(Value::span).collect();
    let (spans, all) = (spans?, found.span()?);
    let quote = found.iter().next()?.span().and_then(|s| body.get(s)).and_then(|raw| raw.chars().next());
    let single = quote == Some('\'') && !item.contains(['\'', '\n']);
    let literal = if single { format!("'{item}'") } else { literal(item, eol) };
    let edited = match before.and_then(|at| spans.get(at)) {
        Some(next) => {
            let gap = match own_line(body, next.start) {
                Some(indent) => [eol, indent].concat(),
                None => " ".to_owned(),
            };
            [&body[..next.start], &literal, ",", &gap, &body[next.start..]].concat()
        }
        None => at_end(body, spans.last()?, all.end, &literal, eol)?,
    };
    let mut wanted: Vec<String> =
        found.iter().map(|v| v.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    let at = before.unwrap_or(wanted.len()).min(wanted.len());
    wanted.insert(at, item.to_owned());
    let mut document: DocumentMut = body.parse().ok()?;
    let table = table_mut(document.as_table_mut(), tables)?;
    table.insert(key, toml_edit::value(wanted.iter().map(String::as_str).collect::<toml_edit::Array>()));
    let expected = meaning(document.as_table());
    let reread: DocumentMut = edited.parse().ok()?;
    (meaning(reread.as_table()) == expected).then(|| [bom, &edited].concat())
}

fn without_bom(text: &str) -> (&str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest))
}

/// A text as TOML: on lines of its own where it has several, with the file's line ends.
fn literal(value: &str, eol: &str) -> String {
    let value = unix(value);
    if !value.contains('\n') {
        return Value::from(value).to_string().trim().to_owned();
    }
    let mut out = format!("\"\"\"{eol}");
    for c in value.chars() {
        match c {
            '\n' => out.push_str(eol),
            '\\' => out.push_str("\\\\"),
            // Three in a row would end the text.
            '"' if out.ends_with("\"\"") || value.ends_with('"') => out.push_str("\\\""),
            '\t' => out.push('\t'),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out + "\"\"\""
}

/// Every line end as a line feed.
fn unix(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// What the file would say, whatever it looks like then.
fn expected(body: &str, tables: &[&str], key: &str, value: &str) -> Option<Meaning> {
    let mut document: DocumentMut = body.parse().ok()?;
    let table = table_mut(document.as_table_mut(), tables)?;
    if table.get(key).is_some_and(|old| old.as_str().is_none()) {
        return None;
    }
    table.insert(key, toml_edit::value(unix(value)));
    Some(meaning(document.as_table()))
}

/// Every value with its path, in no order. Line ends inside texts do not count: TOML lets a reader take either.
type Meaning = std::collections::BTreeMap<Vec<String>, String>;

fn meaning(table: &Table) -> Meaning {
    fn walk(item: &Item, path: &mut Vec<String>, out: &mut Meaning) {
        if let Some(table) = item.as_table_like() {
            for (key, item) in table.iter() {
                path.push(key.to_owned());
                walk(item, path, out);
                path.pop();
            }
        } else if let Some(tables) = item.as_array_of_tables() {
            for (at, table) in tables.iter().enumerate() {
                path.push(at.to_string());
                walk(&Item::Table(table.clone()), path, out);
                path.pop();
            }
        } else {
            out.insert(path.clone(), item.as_value().map(plain).unwrap_or_default());
        }
    }
    let mut out = Meaning::new();
    walk(&Item::Table(table.clone()), &mut vec![], &mut out);
    out
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{:?}", unix(text.value())),
        Value::Array(items) => format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(",")),
        Value::InlineTable(table) => {
            let items = table.iter().map(|(key, value)| format!("{key:?}:{}", plain(value)));
            format!("{{{}}}", items.collect::<Vec<_>>().join(","))
        }
        other => other.clone().decorated("", "").to_string(),
    }
}

fn table_of<'a>(root: &'a Table, names: &[&str]) -> Option<&'a dyn TableLike> {
    let mut table: &dyn TableLike = root;
    for name in names {
        table = table.get(name)?.as_table_like()?;
    }
    Some(table)
}

fn table_mut<'a>(root: &'a mut Table, names: &[&str]) -> Option<&'a mut dyn TableLike> {
    let mut table: &mut dyn TableLike = root;
    for name in names {
        table = table.entry(name).or_insert_with(toml_edit::table).as_table_like_mut()?;
    }
    Some(table)
}

fn replaced(body: &str, root: &Table, tables: &[&str], key: &str, literal: &str) -> Option<String> {
    let span = table_of(root, tables)?.get(key)?.as_value()?.span()?;
    Some([body.get(..span.start)?, literal, body.get(span.end..)?].concat())
}

/// A line more in a table that has a header: after its last value, else below the header.
fn inserted(body: &str, root: &Table, tables: &[&str], line: &str, eol: &str) -> Option<String> {
    let (last, above) = tables.split_last()?;
    let Item::Table(table) = table_of(root, above)?.get(last)? else { return None };
    let values = table.iter().filter_map(|(_, item)| item.as_value()?.span());
    let from = values.map(|span| span.end).max().or_else(|| table.span().map(|span| span.end))?;
    let end = body.get(from..)?.find('\n').map_or(body.len(), |at| from + at + 1);
    let gap = if body[..end].ends_with('\n') { "" } else { eol };
    let tail = if gap.is_empty() { eol } else { "" };
    Some([&body[..end], gap, line, tail, &body[end..]].concat())
}

fn appended(body: &str, block: &str, eol: &str) -> String {
    let gap = match () {
        () if body.trim().is_empty() => "",
        () if body.ends_with("\n\n") || body.ends_with("\n\r\n") => "",
        () if body.ends_with('\n') => eol,
        () => return [body, eol, eol, block, eol].concat(),
    };
    [body, gap, block, eol].concat()
}

/// The white space before a value that begins its line.
fn own_line(body: &str, at: usize) -> Option<&str> {
    let start = body[..at].rfind('\n')? + 1;
    Some(&body[start..at]).filter(|indent| indent.trim().is_empty())
}

/// A last item; a comma and a comment behind the one that was last stay with it.
fn at_end(
    body: &str,
    last: &std::ops::Range<usize>,
    list_end: usize,
    literal: &str,
    eol: &str,
) -> Option<String> {
    let line_end = body.get(last.end..)?.find(['\r', '\n']).map_or(body.len(), |at| last.end + at);
    let Some(indent) = own_line(body, last.start).filter(|_| line_end < list_end) else {
        return Some([&body[..last.end], ", ", literal, &body[last.end..]].concat());
    };
    let behind = &body[last.end..line_end];
    let comma = behind.trim_start().starts_with(',');
    let (before, after) = if comma { ("", ",") } else { (",", "") };
    Some([&body[..last.end], before, behind, eol, indent, literal, after, &body[line_end..]].concat())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COACH: [&str; 2] = ["board", "writing-coach"];

    fn set(text: &str, value: &str) -> Option<String> {
        set_text(text, &COACH, "editable", value)
    }

    #[test]
    fn a_value_is_replaced_or_added_where_it_belongs() {
        for (before, after) in [
            ("", "[board.writing-coach]\neditable = \"x\"\n"),
            (
                "# mine\n[book]\ntitle = 'A' # t\n",
                "# mine\n[book]\ntitle = 'A' # t\n\n[board.writing-coach]\neditable = \"x\"\n",
            ),
            (
                "[board.writing-coach] # c\nnotes = \"n\" # keep\n\n[goals]\n",
                "[board.writing-coach] # c\nnotes = \"n\" # keep\neditable = \"x\"\n\n[goals]\n",
            ),
            ("[board.writing-coach]\n", "[board.writing-coach]\neditable = \"x\"\n"),
            ("[board.writing-coach]", "[board.writing-coach]\neditable = \"x\""),
            (
                "[board.writing-coach]\neditable = '''\nold\n''' # why\nenabled = true\n",
                "[board.writing-coach]\neditable = \"x\" # why\nenabled = true\n",
            ),
            (
                "board = { writing-coach = { editable = \"o\" } }\n",
                "board = { writing-coach = { editable = \"x\" } }\n",
            ),
            ("[board]\nwriting-coach.editable = \"o\"\n", "[board]\nwriting-coach.editable = \"x\"\n"),
        ] {
            for (bom, eol) in [("", "\n"), ("\u{feff}", "\r\n"), ("", "\r\n")] {
                // Without a line end nothing says which kind the file has.
                if !before.contains('\n') && eol == "\r\n" {
                    continue;
                }
                let file = |text: &str| format!("{bom}{}", text.replace('\n', eol));
                assert_eq!(set(&file(before), "x"), Some(file(after)), "{before:?}");
            }
        }
    }

    #[test]
    fn a_file_that_can_not_take_it_is_left_alone() {
        for text in [
            "board = 1\n",
            "[board.writing-coach]\neditable = 5\n",
            "[board\n",
            "board = { writing-coach = {} }\n",
        ] {
            assert_eq!(set(text, "x"), None, "{text}");
        }
    }

    #[test]
    fn several_lines_stay_several_lines() {
        assert_eq!(
            set("", "## Tone\n\nDry.\n").unwrap(),
            "[board.writing-coach]\neditable = \"\"\"\n## Tone\n\nDry.\n\"\"\"\n"
        );
        let text = "[book]\r\ntitle = \"A\"\r\n";
        let changed = set(text, "a\nb").unwrap();
        assert_eq!(changed.matches('\n').count(), changed.matches("\r\n").count());
        assert!(changed.starts_with(text));
    }

    #[test]
    fn an_item_joins_a_list_in_the_lists_own_style() {
        let add = |list: &str, before| {
            let file = |list: &str| format!("# c\n[manuscript]\norder = {list}\ndir = 'm'\n");
            let changed = add_item(&file(list), &["manuscript"], "order", before, "new.md").unwrap();
            let list = changed.strip_prefix("# c\n[manuscript]\norder = ").unwrap();
            list.strip_suffix("\ndir = 'm'\n").unwrap().to_owned()
        };
        assert_eq!(add("[\"a\", \"b\"]", None), "[\"a\", \"b\", \"new.md\"]");
        assert_eq!(add("['a', 'b']", Some(1)), "['a', 'new.md', 'b']");
        assert_eq!(
            add("[\n  \"a\", # one\n  \"b\", # two\n]", None),
            "[\n  \"a\", # one\n  \"b\", # two\n  \"new.md\",\n]"
        );
        assert_eq!(
            add("[\n  \"a\",\n  \"b\" # two\n]", None),
            "[\n  \"a\",\n  \"b\", # two\n  \"new.md\"\n]"
        );
        assert_eq!(
            add("[\n  \"a\", # one\n  \"b\",\n]", Some(1)),
            "[\n  \"a\", # one\n  \"new.md\",\n  \"b\",\n]"
        );
        assert_eq!(add("[\n  \"a\",\n  \"b\"]", None), "[\n  \"a\",\n  \"b\", \"new.md\"]");
        assert_eq!(add_item("[manuscript]\norder = []\n", &["manuscript"], "order", None, "x"), None);
        assert_eq!(add_item("", &["manuscript"], "order", None, "x"), None);
    }

    proptest! {
        #[test]
        fn every_text_reads_back_and_the_rest_stays(
            value in "\\PC{0,30}|[a-c\"'\\\\\n\t\r\u{1}]{0,14}",
            crlf in any::<bool>(),
            old in prop_oneof![Just(""), Just("editable = \"old\" # keep\n"), Just("notes = 'n'\n\n"), Just("# only\n")],
        ) {
            let text = format!("# top\n[book]\ntitle = \"A\"\n\n[board.writing-coach]\n{old}[goals]\nwords = 1_000\n");
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            let changed = set(&text, &value);
            prop_assert!(changed.is_some(), "{value:?}");
            let changed = changed.unwrap();
            let document: toml_edit::DocumentMut = changed.parse().unwrap();
            let read = document["board"]["writing-coach"]["editable"].as_str().unwrap().replace("\r\n", "\n");
            prop_assert_eq!(read, unix(&value));
            let head = text.find("[board").unwrap() + "[board.writing-coach]".len();
            prop_assert!(changed.starts_with(&text[..head]), "{changed}");
            prop_assert!(changed.ends_with(&text[text.find("[goals]").unwrap()..]), "{changed}");
        }
    }
}
