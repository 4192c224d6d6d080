//! The few marks of HTML that authors put into Markdown: headings, and tags around words.

use std::borrow::Cow;

/// Reads a heading that has a line of its own, `<h2 align="center">Text</h2>`: its level, 1 to 6, and what stands in it, with the tags around it left out.
pub fn html_heading(line: &str) -> Option<(usize, &str)> {
    let mut line = line.trim();
    for tag in ["center", "div", "p"] {
        let inside = line.strip_prefix('<').and_then(|rest| rest.strip_prefix(tag));
        let inside = inside.and_then(|rest| rest.split_once('>')).map(|(_, inside)| inside);
        let inside = inside.and_then(|rest| rest.strip_suffix('>')?.strip_suffix(tag)?.strip_suffix("</"));
        line = inside.map_or(line, str::trim);
    }
    let inside = line.strip_prefix('<')?.strip_prefix(['h', 'H'])?;
    let level = inside.chars().next()?.to_digit(10).filter(|level| (1..=6).contains(level))?;
    let (attributes, rest) = inside[1..].split_once('>')?;
    let (text, closing) = rest.rsplit_once("</")?;
    let is_closed = closing.eq_ignore_ascii_case(&format!("h{level}>"));
    let is_plain = attributes.is_empty() || attributes.starts_with(' ');
    (is_closed && is_plain && !without_html(text).trim().is_empty()).then(|| (level as usize, text.trim()))
}

/// Leaves out the tags of a text: `<b>Mira</b>` is `Mira`. A text that closes no tag has none.
pub fn without_html(text: &str) -> Cow<'_, str> {
    if !text.contains("</") && !text.contains("/>") {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, tag)) = rest.split_once('<') {
        shown.push_str(before);
        let is_tag = tag.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
        if let Some((_, after)) = tag.split_once('>').filter(|_| is_tag) {
            rest = after;
        } else {
            shown.push('<');
            rest = tag;
        }
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_on_a_line_of_its_own_is_read() {
        let table = [
            ("<h1>Mira</h1>", Some((1, "Mira"))),
            (" <H3 align=\"center\"><b>Mira</b></H3> ", Some((3, "<b>Mira</b>"))),
            ("<center><h2>Mira</h2></center>", Some((2, "Mira"))),
            ("<div class=\"x\"> <h2>Mira</h2> </div>", Some((2, "Mira"))),
            ("<h2>Mira</h3>", None),
            ("<h7>Mira</h7>", None),
            ("<hr>", None),
            ("<h1><img src=\"x.png\"/></h1>", None),
            ("<h1>Mira", None),
            ("see <h1>Mira</h1>", None),
            ("<header>Mira</header>", None),
            ("<h1é>Mira</h1>", None),
        ];
        for (line, heading) in table {
            assert_eq!(html_heading(line), heading, "{line}");
        }
    }

    #[test]
    fn tags_are_left_out_and_nothing_else() {
        for (text, shown) in [
            ("<b>Mira</b> <i class='x'>O</i>", "Mira O"),
            ("a < b", "a < b"),
            ("a < b </i>", "a < b "),
            ("x<br/>y", "xy"),
            ("<3 </", "<3 </"),
        ] {
            assert_eq!(without_html(text), shown, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "(<|>|/|h1|h2|é| |center|\"|a){0,14}") {
            html_heading(&text);
            without_html(&text);
        }
    }
}
