//! This machine's seal: an Ed25519 key pair (RFC 8032), whose secret half stands in `machine.key` of the data folder and nowhere else.
//!
//! A chain names the public half once; from that line on each line is sealed with it. So a line that somebody else changes, moves or adds shows on every machine. Who makes a
//! whole new chain can give it a seal of its own.

use std::fmt::Write;
use std::io;
use std::path::Path;

use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use crate::store::atomic;

const FILE: &str = "machine.key";

/// Only its owner reads it.
const MODE: u32 = 0o600;

/// A machine's key pair.
pub(super) struct Seal(Ed25519KeyPair);

impl Seal {
    /// Returns the seal in the data folder; makes one where there is none, or what is there is no key.
    pub fn of(data: &Path) -> io::Result<Self> {
        let path = data.join(FILE);
        match std::fs::read(&path).map(|bytes| Ed25519KeyPair::from_pkcs8(&bytes)) {
            Ok(Ok(known)) => return Ok(Self(known)),
            // What was sealed with it stays as it is; nothing is sealed with it any more.
            Ok(Err(_)) => atomic::remove(&path)?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(io::Error::new(e.kind(), format!("{}: {e}", path.display()))),
        }
        let no_key = |_| io::Error::other("the system gives no random numbers for a key");
        let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(no_key)?;
        atomic::make_folders(data)?;
        atomic::write_as(data, &path, made.as_ref(), Some(MODE))?;
        let rejected = |_| io::Error::other("the key that was just made can't be read");
        Ed25519KeyPair::from_pkcs8(made.as_ref()).map(Self).map_err(rejected)
    }

    /// Returns the public half, as 64 hexadecimal digits.
    pub fn key(&self) -> String {
        hex(self.0.public_key().as_ref())
    }

    /// Seals bytes, as 128 hexadecimal digits.
    pub fn sign(&self, bytes: &[u8]) -> String {
        hex(self.0.sign(bytes).as_ref())
    }
}

/// Whether `seal` was put under `bytes` with the secret half of `key`.
pub(super) fn is_by(key: &str, bytes: &[u8], seal: &str) -> bool {
    let (Some(key), Some(seal)) = (unhex(key), unhex(seal)) else { return false };
    UnparsedPublicKey::new(&ED25519, key).verify(bytes, &seal).is_ok()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn unhex(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.chars().map(|c| u8::try_from(c.to_digit(16)?).ok()).collect::<Option<Vec<u8>>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_one_seal_that_others_can_check_and_not_make() {
        let (mine, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let seal = Seal::of(mine.path()).unwrap();
        let again = Seal::of(mine.path()).unwrap();
        assert_eq!((seal.key(), seal.key().len()), (again.key(), 64));
        let sealed = seal.sign(b"Mira waits.");
        assert_eq!(sealed.len(), 128);
        assert!(is_by(&seal.key(), b"Mira waits.", &sealed));
        assert!(!is_by(&seal.key(), b"Mira leaves.", &sealed));
        let forged = Seal::of(other.path()).unwrap().sign(b"Mira waits.");
        assert!(!is_by(&seal.key(), b"Mira waits.", &forged));
        for wrong in ["", "0", "zz", "é0", &sealed[1..]] {
            assert!(!is_by(&seal.key(), b"Mira waits.", wrong) && !is_by(wrong, b"Mira waits.", &sealed));
        }
    }

    #[test]
    fn a_file_that_is_no_key_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), "torn").unwrap();
        let seal = Seal::of(folder.path()).unwrap();
        assert_eq!(Seal::of(folder.path()).unwrap().key(), seal.key());
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_the_secret_half() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), "torn").unwrap();
        Seal::of(folder.path()).unwrap();
        let mode = folder.path().join(FILE).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, MODE);
    }
}
