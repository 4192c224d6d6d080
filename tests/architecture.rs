//! Keeps the layers honest. One crate has no walls that a compiler checks, so this test is the wall.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on should fail loudly")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Which module may use which, in layer order: a row names only rows above it.
const MAY_USE: &[(&str, &[&str])] = &[
    ("command", &[]),
    ("domain", &[]),
    ("editor", &["domain"]),
    ("canon", &["domain"]),
    ("craft", &["domain"]),
    ("persona", &["domain", "canon"]),
    ("proposal", &["domain"]),
    ("tools", &["domain", "canon", "craft", "persona", "proposal"]),
    ("config", &["domain"]),
    ("providers", &["domain", "canon", "craft", "tools"]),
    ("secrets", &[]),
    ("store", &["domain", "proposal", "config"]),
    ("agent", &["domain", "canon", "proposal", "persona", "tools", "providers"]),
    (
        "workbench",
        &[
            "domain",
            "canon",
            "craft",
            "persona",
            "proposal",
            "tools",
            "config",
            "providers",
            "secrets",
            "store",
            "agent",
        ],
    ),
    ("tui", &["command", "domain", "editor", "canon", "persona", "proposal", "config", "agent", "workbench"]),
    ("cli", &["domain", "proposal", "tools", "config", "agent", "workbench", "tui"]),
];

/// Which outside crate belongs to which module alone.
const OWNS: &[(&str, &[&str])] = &[
    ("ropey", &["editor"]),
    ("ratatui", &["tui"]),
    ("crossterm", &["tui", "cli"]),
    ("schemars", &["tools"]),
    ("reqwest", &["providers"]),
    ("hyper_util", &["providers"]),
    ("http_body", &["providers"]),
    ("rustls", &["providers"]),
    ("ring", &["store"]),
    ("keyring", &["secrets"]),
    ("keyring_core", &["secrets"]),
    ("clap", &["cli"]),
    ("similar", &["proposal"]),
    ("rust_stemmers", &["canon"]),
    ("walkdir", &["store"]),
    ("atomic_write_file", &["store"]),
];

/// What only the named modules may say: the write side of the file system, the environment, the process, the terminal.
const SAYS: &[(&str, &[&str])] = &[
    ("fs::write", &["store", "config"]),
    ("File::create", &["store", "config"]),
    ("OpenOptions", &["store", "config"]),
    ("fs::remove_", &["store", "config"]),
    ("fs::rename", &["store", "config"]),
    ("env::var", &["config", "secrets", "cli"]),
    ("process::exit", &[]),
    ("println!", &["cli"]),
    ("print!", &["cli"]),
];

/// Longest file, counted without its test module.
const MAX_LINES: usize = 600;

#[test]
fn a_row_names_only_rows_above_it() {
    let order: Vec<_> = MAY_USE.iter().map(|(module, _)| *module).collect();
    for (row, (module, uses)) in MAY_USE.iter().enumerate() {
        for used in *uses {
            assert!(order[..row].contains(used), "`{module}` lists `{used}`, which is not above it");
        }
    }
}

#[test]
fn modules_use_only_what_the_table_allows() {
    let mut wrong = vec![];
    for file in sources() {
        if matches!(file.module.as_str(), "lib" | "main") {
            continue;
        }
        let row = MAY_USE.iter().find(|(module, _)| *module == file.module);
        let (_, allowed) = row.unwrap_or_else(|| panic!("`{}` has no row in MAY_USE", file.module));
        for used in crate_paths(&file.code) {
            let known = MAY_USE.iter().any(|(module, _)| *module == used);
            if known && used != file.module && !allowed.contains(&used.as_str()) {
                wrong.push(format!("{}: `{}` uses `{used}`", file.path.display(), file.module));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn crates_and_powers_stay_with_their_owners() {
    let mut wrong = vec![];
    for file in sources().iter().filter(|f| !matches!(f.module.as_str(), "lib" | "main")) {
        for (outside, owners) in OWNS {
            let used = lines_of_code(&file.code).any(|l| names(l, outside));
            if used && !owners.contains(&file.module.as_str()) {
                wrong.push(format!("{}: `{}` uses the crate `{outside}`", file.path.display(), file.module));
            }
        }
        for (words, owners) in SAYS {
            let said = lines_of_code(&file.code).any(|l| says(l, words));
            if said && !owners.contains(&file.module.as_str()) {
                wrong.push(format!("{}: `{}` says `{words}`", file.path.display(), file.module));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn files_stay_readable() {
    for file in sources() {
        let lines = file.code.lines().count();
        assert!(lines <= MAX_LINES, "{}: {lines} lines", file.path.display());
        assert!(
            file.code.trim_start().starts_with("//!"),
            "{}: no module documentation",
            file.path.display()
        );
        assert!(
            !file.path.ends_with("mod.rs"),
            "{}: `foo.rs` beside `foo/`, not `mod.rs`",
            file.path.display()
        );
    }
}

struct Source {
    path: PathBuf,
    module: String,
    /// Its text up to the test module.
    code: String,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut found) = (vec![root.clone()], vec![]);
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(folder).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            // `tests.rs`, `review_tests.rs`: test modules in files of their own.
            if path.extension().is_none_or(|e| e != "rs")
                || path.file_name().is_some_and(|n| n.to_string_lossy().ends_with("tests.rs"))
            {
                continue;
            }
            let first = path.strip_prefix(&root).unwrap().iter().next().unwrap();
            let module = Path::new(first).file_stem().unwrap().to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned();
            found.push(Source { path, module, code });
        }
    }
    assert!(found.len() > 20, "the sources were not found");
    found
}

fn lines_of_code(code: &str) -> impl Iterator<Item = &str> {
    code.lines().map(str::trim_start).filter(|l| !l.starts_with("//"))
}

/// Yields every `x` of `crate::x` and of `use crate::{x, y::z}`.
fn crate_paths(code: &str) -> BTreeSet<String> {
    let code: String = lines_of_code(code).collect::<Vec<_>>().join("\n");
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let Some(group) = rest.strip_prefix('{') else {
            found.insert(head(rest));
            continue;
        };
        let (mut depth, mut start) = (0, 0);
        for (i, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                '}' | ',' if depth == 0 => {
                    found.insert(head(&group[start..i]));
                    start = i + 1;
                }
                _ => {}
            }
            if c == '}' && depth == 0 && start == i + 1 {
                break;
            }
        }
    }
    found
}

fn head(path: &str) -> String {
    path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// Whether a line names an outside crate: `x::` that is not the tail of a longer name or path.
fn names(line: &str, outside: &str) -> bool {
    line.match_indices(&format!("{outside}::"))
        .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'))
        || line.starts_with(&format!("use {outside};"))
}

fn says(line: &str, words: &str) -> bool {
    line.match_indices(words).any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}
