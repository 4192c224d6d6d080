#[path = "support/vault.rs"]
mod vault;
#[test]
fn dump() {
    for e in vault::entries(5000, 40) {
        let fact = e.text.split("## Known for\n\n").nth(1).unwrap().lines().next().unwrap();
        println!(
            "{}\t{}\t{}\t{}\t{}",
            e.path,
            e.name,
            e.title.unwrap_or_default(),
            e.aliases.join("|"),
            fact
        );
    }
}
