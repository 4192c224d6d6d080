//! Bytes of a file as text, whatever program wrote them.

/// A file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The text; a UTF-8 BOM is kept.
    pub text: String,
    /// Why these are not the file's own bytes: a sentence for the author. Such a file must not be written back as it is.
    pub problem: Option<&'static str>,
}

/// Decodes a file: UTF-8, else UTF-16 with a BOM, else Windows-1252, else UTF-8 with marks where it is broken.
pub fn decode(bytes: Vec<u8>) -> Decoded {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Decoded { text, problem: None },
        Err(error) => error.into_bytes(),
    };
    let (text, problem) = if let Some(text) = utf16(&bytes) {
        (text, "the file is UTF-16, not UTF-8; it is read, but not saved, until it is converted")
    } else if holds_utf8(&bytes) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        (text, "the file is not valid UTF-8; the broken places are shown as \u{fffd}, and it is not saved")
    } else {
        let text = bytes.iter().copied().map(windows_1252).collect();
        (text, "the file is not UTF-8; it is read as Windows-1252, but not saved, until it is converted")
    };
    Decoded { text, problem: Some(problem) }
}

fn utf16(bytes: &[u8]) -> Option<String> {
    let unit = match bytes.get(..2)? {
        [0xff, 0xfe] => u16::from_le_bytes,
        [0xfe, 0xff] => u16::from_be_bytes,
        _ => return None,
    };
    let units: Vec<u16> = bytes[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
    Some(String::from_utf16_lossy(&units))
}

/// Whether a character outside ASCII is well-formed somewhere, so that the file is UTF-8 with damage.
fn holds_utf8(bytes: &[u8]) -> bool {
    bytes.utf8_chunks().any(|chunk| !chunk.valid().is_ascii())
}

/// <https://encoding.spec.whatwg.org/index-windows-1252.txt>
fn windows_1252(byte: u8) -> char {
    const FROM_80: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
        '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => FROM_80[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_any_encoding_is_kept() {
        assert_eq!(decode("\u{feff}é".into()), Decoded { text: "\u{feff}é".into(), problem: None });
        assert_eq!(decode(b"\xff\xfeM\0\xe9\0".to_vec()).text, "Mé");
        assert_eq!(decode(b"\xfe\xff\0M\0\xe9".to_vec()).text, "Mé");
        assert_eq!(decode(b"\x93Noted,\x94 caf\xe9".to_vec()).text, "“Noted,” café");
        let damaged = decode(b"caf\xc3\xa9 \xff end".to_vec());
        assert_eq!(damaged.text, "café \u{fffd} end");
        assert!(damaged.problem.is_some());
    }
}
