# Everyday commands; `.ci/run` is what decides.

default: test

test:
    cargo test

demo:
    cargo run --release -- demo

lint:
    cargo fmt --all --check
    cargo clippy --all-targets -- -D warnings

doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items

bench:
    cargo bench
