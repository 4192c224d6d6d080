//! Files: the one place (with `config`) that writes.
//!
//! What an author wrote is read and replaced through `document` and `journal`; everything of our own lives in the book's
//! `.scritorio` folder, which the first write makes and reading never does.

pub mod atomic;
pub mod book;
#[cfg(test)]
pub(crate) mod crash;
pub mod desk;
pub mod document;
pub mod egress;
pub mod exemptions;
pub mod home;
pub mod journal;
pub mod jsonl;
pub mod learned;
pub mod listed_models;
pub mod lock;
pub mod machine;
pub mod proposals;
pub mod provenance;
pub mod recovery;
pub mod running;
pub mod sessions;
pub mod spending;
pub mod vectors;

/// Returns the present time as the stores write it: RFC 3339 in UTC, to the millisecond.
pub fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_time_is_written_in_utc_to_the_millisecond() {
        let now = super::now();
        assert_eq!(now.len(), "2026-01-01T00:00:00.000Z".len(), "{now}");
        assert!(now.ends_with('Z'));
    }
}
