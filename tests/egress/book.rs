//! A book with a word of its own in every place that must not leak, and what is looked for in what left.

use std::collections::BTreeMap;
use std::fs;

use super::book::{Folders, KEY};

/// Stands in the first chapter, which any tool may read.
pub const PROSE: &str = "Quillwort";

/// Parts of words, each in one place that AI never reads. Nothing that leaves may hold one of them.
pub const NEVER: [&str; 14] = [
    "xanthtext",
    "xanthname",
    "xanthalias",
    "xanthtitle",
    "xanthsum",
    "xanthfield",
    "xanthsoul",
    "xanthchap",
    "xanthnote",
    "xanthpath",
    "xanthfold",
    "xanthmany",
    "xanthemb",
    "xanthtag",
];

/// The book: what is open, and beside it a private file of every kind.
pub fn planted() -> Folders {
    let folders = Folders::new();
    for (path, text) in files() {
        folders.write(path, &text);
    }
    folders
}

fn files() -> Vec<(&'static str, String)> {
    let text = |text: &str| text.to_owned();
    vec![
        (
            "scritorio.toml",
            text(
                "[book]\ntitle = \"The Lamp\"\n\n[board.first-time-reader]\nnotes = \"The lamp is never to be explained to any reader.\"\n\n[ai]\nnever = [\"notes/xanthfold\"]\n",
            ),
        ),
        (
            "manuscript/01-the-lamp.md",
            text(
                "# Chapter 1: The Lamp\n\nMira Okafor set the Quillwort lamp down on the sill. \u{201c}It is out,\u{201d} she said.\n\nNobody on the whole station answered Mira that night.\n",
            ),
        ),
        (
            "manuscript/02-the-stair.md",
            text(
                "# Chapter 2: The Stair\n\nThe stair had forty steps, and \"every\" one of them creaked.\nTobias counted\tthem twice.\n",
            ),
        ),
        (
            "manuscript/03-xanthpath.md",
            text(
                "---\ntitle: The Xanthtitle Door\nai: never\n---\n\n# Chapter 3\n\nBehind the xanthchap door Mira found the end of everything.\n",
            ),
        ),
        (
            "codex/characters/tobias.md",
            text(
                "---\nname: Tobias Wren\naliases: [Toby]\nsummary: He counts every step of every stair he climbs.\nfriend: \"[[old-heron]]\"\n---\n\n# Tobias Wren\n\n![[the-plan]]\n\nA keeper of lists, and of the second set of keys.\n",
            ),
        ),
        (
            "codex/characters/old-heron.md",
            text(
                "---\nname: Adrian Xanthname\naliases: [Xanthalias]\ntitle: Captain Xanthtitle\nsummary: The xanthsum captain of the ship.\nrole: xanthfield\nai: never\n---\n\nHe is the xanthtext father of Mira Okafor, and nobody knows it.\n",
            ),
        ),
        (
            "codex/characters/osric/dossier.md",
            text("---\nname: Osric\n---\n\nOsric keeps the tavern below the light.\n"),
        ),
        (
            "codex/characters/osric/soul.md",
            text("---\nai: never\n---\n\nOsric xanthsoul fears the water more than anything.\n"),
        ),
        (
            "codex/locations.md",
            text(
                "---\nai = broken\nai: never\n---\n\n## Xanthmany Harbour\n\nA xanthmany place by the sea.\n\n## Xanthmany Wall\n\nAnother one.\n",
            ),
        ),
        (
            "codex/items/key.md",
            text("+++\nname = \"The Xanthname Key\"\nai = \"never\"\n+++\n\nIt opens the xanthtext door.\n"),
        ),
        (
            "notes/ending.md",
            text(
                "{\n\"title\": \"Xanthnote\",\n\"tags\": [\"xanthtag\"],\n\"ai\": \"never\"\n}\n\nThe xanthnote ending of the whole book.\n",
            ),
        ),
        ("notes/xanthfold/deep/plan.md", text("# Xanthnote plan\n\nThe xanthfold plan of it all.\n")),
        ("notes/the-plan.md", text("---\nai: never\n---\n\nThe xanthemb plan for Tobias and the keys.\n")),
        ("notes/radio.md", text("# Radio\n\nShort wave fades at noon on the station.\n")),
    ]
}

/// Everything of ours on the disk after a run: `.scritorio` and the data and settings folders, as text.
pub fn kept(folders: &Folders) -> BTreeMap<String, String> {
    let of_ours = |path: &str| path.contains(".scritorio") || !path.contains("/book/");
    let files = folders.files().into_iter();
    files
        .map(|(path, bytes)| (path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()))
        .filter(|(path, _)| of_ours(path))
        .collect()
}

/// Checks that nothing private is in what was kept and shown.
#[track_caller]
pub fn nothing_private_in(what: &str, text: &str) {
    let lower = text.to_lowercase();
    for word in NEVER {
        assert!(!lower.contains(word), "`{word}` in {what}: {text}");
    }
    assert!(!text.contains(KEY), "the key in {what}: {text}");
}

/// Every file of the book with its text, as the program reads it.
pub fn texts(folders: &Folders) -> BTreeMap<String, String> {
    let book = folders.book();
    let inside = |path: &std::path::Path| Some(path.strip_prefix(&book).ok()?.to_str()?.to_owned());
    let files = folders.files().into_keys().filter_map(|path| Some((inside(&path)?, path)));
    files
        .filter(|(name, _)| !name.starts_with(".scritorio"))
        .map(|(name, path)| (name, fs::read_to_string(path).unwrap()))
        .collect()
}
