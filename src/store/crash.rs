//! Test builds only: ends the process at a chosen point of writing, as a power cut would.
//!
//! Every place in `store` that changes something on the disk passes a point before and after. Nothing happens there until a test, in
//! a process of its own, arms it. No line of this is in the program.

use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Points that are left before the kill; 0: none comes.
static LEFT: AtomicUsize = AtomicUsize::new(0);

/// Lets the process die at the `n`th point from now on, from 1.
pub(crate) fn arm(n: usize) {
    LEFT.store(n, Ordering::SeqCst);
}

/// A place where everything before it is done, and nothing after it.
pub(super) fn point() {
    if is_last() {
        die();
    }
}

/// A place in the middle of writing `bytes`: half of them are written before the end.
pub(super) fn half(write: impl FnOnce(&[u8]) -> io::Result<()>, bytes: &[u8]) -> io::Result<()> {
    if is_last() {
        write(&bytes[..bytes.len() / 2])?;
        die();
    }
    Ok(())
}

fn is_last() -> bool {
    let counted = LEFT.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
    counted == Ok(1)
}

/// SIGKILL, which no code of this process sees.
fn die() -> ! {
    let _ = Command::new("sh").args(["-c", "kill -KILL $PPID"]).status();
    // Reached only where there is no such signal.
    std::process::abort()
}
