//! Checks a proposal against the files as they are now, and says what to write.
//!
//! All files or none: the first one that does not fit ends the plan. A file that the author changed elsewhere since is merged: see [`super::merge`].

use super::merge::{Merged, Region, merge};
use super::{FileChange, Proposal, diff};
use crate::domain::ids::BookPath;

/// What one file must become. `content` is the whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The file.
    pub path: BookPath,
    /// Its bytes before; `None` when it must not exist.
    pub before: Option<String>,
    /// Its bytes after; `None` when it is removed.
    pub after: Option<String>,
}

/// Why a proposal can't be applied as it stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// The same words have changed since, so that both changes can't be kept.
    #[error(
        "{path}{} has changed in the same place since this was proposed; nothing was written",
        in_line(regions)
    )]
    Changed {
        /// The file.
        path: BookPath,
        /// The whole file with both sides of every place that both changed.
        regions: Vec<Region>,
    },
    /// The file would be removed, and holds words by now that the proposal did not see.
    #[error("{path} would be removed, but has changed since this was proposed; nothing was written")]
    Kept {
        /// The file.
        path: BookPath,
    },
    /// The proposal's record is not what was written down.
    #[error("what {path} was when this was proposed is damaged in the record; nothing was written")]
    Damaged {
        /// The file.
        path: BookPath,
    },
    /// A new file would overwrite one.
    #[error("{path} exists already; nothing was written")]
    Exists {
        /// The file.
        path: BookPath,
    },
    /// The file is gone.
    #[error("{path} is no longer there; nothing was written")]
    Gone {
        /// The file.
        path: BookPath,
    },
    /// What the file holds would be nowhere.
    #[error("{path} is removed only when all of the other files are written whole; nothing was written")]
    Together {
        /// The file that would be removed.
        path: BookPath,
    },
    /// No hunk was chosen, or the files hold the change already.
    #[error("there is no change to make; nothing was written")]
    Nothing,
}

/// Plans the writes. `now` gives the present text of a file (`None`: it does not exist); `hunks` keeps, for the file at the same place, only the hunks
/// (of [`super::diff::hunks`] over base and proposed text) whose flag is set; an absent list keeps all.
pub fn plan(
    proposal: &Proposal,
    now: impl Fn(&FileChange) -> Option<String>,
    hunks: &[Vec<bool>],
) -> Result<Vec<Write>, Conflict> {
    let mut writes = vec![];
    for (i, file) in proposal.files.iter().enumerate() {
        let path = file.path.clone();
        let base = file.base.as_deref().unwrap_or_default();
        let chosen = hunks.get(i).map_or(&[][..], Vec::as_slice);
        if !file.is_whole() {
            return Err(Conflict::Damaged { path });
        }
        let Some(proposed) = &file.proposed else {
            let keeps = |other: usize| hunks.get(other).is_some_and(|chosen| chosen.contains(&false));
            if !keeps(i) && (0..proposal.files.len()).any(keeps) {
                return Err(Conflict::Together { path });
            }
            writes.extend(removal(file, now(file), chosen)?);
            continue;
        };
        let wanted = diff::apply_hunks(base, proposed, chosen);
        // A new file may be an empty one.
        let unwanted = wanted == base && (file.base.is_some() || !proposed.is_empty());
        match (&file.base, now(file)) {
            _ if unwanted => {}
            (None, Some(_)) => return Err(Conflict::Exists { path }),
            (None, None) => writes.push(Write { path, before: None, after: Some(wanted) }),
            (Some(_), None) => return Err(Conflict::Gone { path }),
            (Some(_), Some(now)) => {
                let after = match merge(base, &now, &wanted) {
                    Merged::Clean(after) => after,
                    Merged::Conflict { regions } => return Err(Conflict::Changed { path, regions }),
                };
                if after != now {
                    writes.push(Write { path, before: Some(now), after: Some(after) });
                }
            }
        }
    }
    if writes.is_empty() { Err(Conflict::Nothing) } else { Ok(writes) }
}

/// A file is removed whole, and only as the proposal saw it: words that were written since are not thrown away.
fn removal(file: &FileChange, now: Option<String>, chosen: &[bool]) -> Result<Option<Write>, Conflict> {
    let path = file.path.clone();
    match now {
        _ if chosen.contains(&false) => Ok(None),
        None => Ok(None),
        now if now == file.base => Ok(Some(Write { path, before: now, after: None })),
        Some(_) => Err(Conflict::Kept { path }),
    }
}

/// `, line 3`: where the first open region begins.
fn in_line(regions: &[Region]) -> String {
    let first = regions.iter().find_map(Region::open);
    first.map(|sides| format!(", line {},", sides.line)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::codex::EntryType;
    use crate::domain::ids::ProposalId;

    fn proposal(files: &[(&str, Option<&str>, &str)]) -> Proposal {
        let files = files
            .iter()
            .map(|(path, base, proposed)| FileChange {
                path: BookPath::new(path).unwrap(),
                base: base.map(str::to_owned),
                base_hash: None,
                proposed: Some((*proposed).to_owned()),
            })
            .collect();
        Proposal {
            id: ProposalId::new("p-1"),
            tool: "propose_codex_update".into(),
            subject: EntryType::Character.into(),
            entry: "Adrian Vale".into(),
            summary: String::new(),
            warnings: vec![],
            files,
            edited: false,
        }
    }

    const BASE: &str = "one\ntwo\nthree\nfour\nfive\n";

    #[test]
    fn an_unchanged_file_becomes_the_proposed_text() {
        let p = proposal(&[("a.md", Some(BASE), "one\ntwo\nthree\nfour\n5\n")]);
        let writes = plan(&p, |f| f.base.clone(), &[]).unwrap();
        assert_eq!(writes.len(), 1);
        assert_eq!(writes[0].before.as_deref(), Some(BASE));
        assert_eq!(writes[0].after.as_deref(), Some("one\ntwo\nthree\nfour\n5\n"));
    }

    #[test]
    fn words_that_the_author_wrote_elsewhere_since_are_kept() {
        let p = proposal(&[("a.md", Some(BASE), "one\ntwo\nthree\nfour\n5\n")]);
        let now = "zero\none\ntwo\nthree\nfour\nfive\n";
        let writes = plan(&p, |_| Some(now.into()), &[]).unwrap();
        assert_eq!(writes[0].before.as_deref(), Some(now));
        assert_eq!(writes[0].after.as_deref(), Some("zero\none\ntwo\nthree\nfour\n5\n"));
    }

    #[test]
    fn a_file_that_changed_in_the_same_place_is_a_conflict_and_no_file_is_written() {
        let p = proposal(&[("new.md", None, "n\n"), ("a.md", Some(BASE), "one\ntwo\nthree\nfour\n5\n")]);
        let now = |f: &FileChange| f.base.as_ref().map(|_| "one\ntwo\nthree\nfour\nFIVE\n".to_owned());
        let error = plan(&p, now, &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.md, line 5, has changed in the same place since this was proposed; nothing was written"
        );
        let Conflict::Changed { regions, .. } = error else { panic!("{error:?}") };
        let sides: Vec<_> = regions.iter().filter_map(Region::open).collect();
        assert_eq!((sides[0].mine.as_str(), sides[0].theirs.as_str()), ("FIVE", "5"));
    }

    #[test]
    fn a_new_file_never_overwrites_one_and_a_vanished_file_is_not_made_again() {
        let path = BookPath::new("a.md").unwrap();
        let create = proposal(&[("a.md", None, "text\n")]);
        assert_eq!(plan(&create, |_| Some("mine".into()), &[]), Err(Conflict::Exists { path: path.clone() }));
        let update = proposal(&[("a.md", Some(BASE), "text\n")]);
        assert_eq!(plan(&update, |_| None, &[]), Err(Conflict::Gone { path }));
    }

    #[test]
    fn only_chosen_hunks_are_written() {
        let p = proposal(&[("a.md", Some(BASE), "1\ntwo\nthree\nfour\n5\n")]);
        let now = |f: &FileChange| f.base.clone();
        let writes = plan(&p, now, &[vec![false, true]]).unwrap();
        assert_eq!(writes[0].after.as_deref(), Some("one\ntwo\nthree\nfour\n5\n"));
        assert_eq!(plan(&p, now, &[vec![false, false]]), Err(Conflict::Nothing));
    }

    #[test]
    fn a_new_file_can_be_left_out_while_the_other_is_written() {
        let p = proposal(&[("c/dossier.md", None, "d\n"), ("c/soul.md", None, "s\n")]);
        let writes = plan(&p, |_| None, &[vec![true], vec![false]]).unwrap();
        assert_eq!(writes.len(), 1);
        assert_eq!(writes[0].path.as_str(), "c/dossier.md");
    }

    #[test]
    fn a_file_is_removed_only_as_it_was_seen_and_only_whole() {
        let mut p = proposal(&[("c/x/dossier.md", None, "one\n"), ("c/x.md", Some("one\n"), "")]);
        p.files[1].proposed = None;
        let writes = plan(&p, |f| f.base.clone(), &[]).unwrap();
        assert_eq!((writes[1].before.as_deref(), &writes[1].after), (Some("one\n"), &None));
        let kept = plan(&p, |f| f.base.clone(), &[vec![true], vec![false]]).unwrap();
        assert_eq!(kept.len(), 1, "the author keeps the file");
        let torn = plan(&p, |f| f.base.clone(), &[vec![false], vec![true]]);
        assert!(matches!(torn, Err(Conflict::Together { .. })), "{torn:?}");
        let path = p.files[1].path.clone();
        assert_eq!(
            plan(&p, |f| f.base.as_ref().map(|_| "one\nmore\n".into()), &[]),
            Err(Conflict::Kept { path })
        );
        assert_eq!(plan(&p, |_| None, &[]).unwrap().len(), 1, "it is gone already");
    }

    #[test]
    fn a_change_that_the_file_holds_already_is_nothing_to_write() {
        let p = proposal(&[("a.md", Some("old\n"), "new\n")]);
        assert_eq!(plan(&p, |_| Some("new\n".into()), &[]), Err(Conflict::Nothing));
    }
}
