//! A large Codex and manuscript, made by rule: the same every time, with what makes names hard to find in a real one. First names and surnames are shared,
//! many have accents, people have titles and nicknames, and places are named after each other.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

use std::fmt::Write;
use std::sync::Arc;

use scritorio::domain::codex::{Entry, EntryType, TypeFrom};
use scritorio::domain::ids::BookPath;
use scritorio::domain::manuscript::{Chapter, NumberFrom, StoryTime};

const FIRST: [&str; 70] = [
    "Ada",
    "Aleš",
    "Anaïs",
    "Anselm",
    "Ásta",
    "Béla",
    "Benedikt",
    "Björn",
    "Brigid",
    "Bronisława",
    "Caspian",
    "Céline",
    "Chidi",
    "Ciarán",
    "Cosima",
    "Dagný",
    "Damaris",
    "Dorothea",
    "Édouard",
    "Eleni",
    "Elspeth",
    "Emrys",
    "Éowen",
    "Farah",
    "Fionnuala",
    "Florian",
    "Françoise",
    "Gunnar",
    "Gwendolen",
    "Hadley",
    "Halvard",
    "Héloïse",
    "Henrike",
    "Ignatius",
    "Ilse",
    "Ingrid",
    "Isidore",
    "Jasper",
    "Joaquín",
    "Jürgen",
    "Kazimir",
    "Keiko",
    "Lærke",
    "Leocadia",
    "Linnéa",
    "Lucjan",
    "Maëlle",
    "Marisol",
    "Matthias",
    "Mirembe",
    "Nadezhda",
    "Niamh",
    "Octavian",
    "Oisín",
    "Ottilie",
    "Perpetua",
    "Quentin",
    "Rafaël",
    "Rosalind",
    "Saoirse",
    "Seraphine",
    "Søren",
    "Tamsin",
    "Théodore",
    "Ulrike",
    "Valentín",
    "Wilhelmina",
    "Xanthe",
    "Yaroslav",
    "Zbigniew",
];

const LAST: [&str; 60] = [
    "Abernathy",
    "Ålund",
    "Barsotti",
    "Beaumont",
    "Blackwood",
    "Böhm",
    "Brzezicki",
    "Castellane",
    "Chukwuemeka",
    "Cormac",
    "D'Aubigny",
    "Dvořák",
    "Delacroix",
    "Egerton",
    "Fairweather",
    "Farquhar",
    "Fernández",
    "Gallagher",
    "Grünwald",
    "Hawthorne",
    "Hedström",
    "Ibáñez",
    "Jankowski",
    "Kirkbride",
    "Køhler",
    "Lachance",
    "Lindqvist",
    "Łukasiewicz",
    "MacTavish",
    "Marchetti",
    "Montague",
    "Müller",
    "Nakagawa",
    "Nørgaard",
    "O'Rourke",
    "Oyelaran",
    "Pemberton",
    "Pettigrew",
    "Quatermass",
    "Ravenscroft",
    "Rodríguez",
    "Rosenthal",
    "Sandoval",
    "Sørensen",
    "St. Clair",
    "Stavropoulos",
    "Strangeways",
    "Tanaka",
    "Thistlewood",
    "Trelawney",
    "Underhill",
    "van der Meer",
    "Vasquez",
    "Vespucci",
    "Wainwright",
    "Whitlock",
    "Winterbourne",
    "Yamamoto",
    "Zamoyski",
    "Želazny",
];

const TITLES: [&str; 10] = [
    "Captain",
    "Doctor",
    "Magistrate",
    "Sister",
    "Harbourmaster",
    "Archivist",
    "Lieutenant",
    "Professor",
    "Warden",
    "Lady",
];

const COLOURS: [&str; 40] = [
    "Amber", "Ashen", "Brass", "Bronze", "Cobalt", "Copper", "Coral", "Crimson", "Dun", "Ebony", "Emerald",
    "Fallow", "Gilded", "Grey", "Hollow", "Indigo", "Iron", "Ivory", "Jade", "Leaden", "Lilac", "Marble",
    "Mossy", "Ochre", "Opal", "Pale", "Pearl", "Pewter", "Rusty", "Sable", "Saffron", "Scarlet", "Silent",
    "Silver", "Slate", "Speckled", "Tawny", "Umber", "Velvet", "Wintry",
];

const BEASTS: [&str; 40] = [
    "Adder",
    "Badger",
    "Bittern",
    "Bullfinch",
    "Cormorant",
    "Crane",
    "Curlew",
    "Dormouse",
    "Egret",
    "Falcon",
    "Ferret",
    "Gannet",
    "Goshawk",
    "Hare",
    "Hedgehog",
    "Heron",
    "Ibex",
    "Jackdaw",
    "Kestrel",
    "Lapwing",
    "Linnet",
    "Lynx",
    "Magpie",
    "Marten",
    "Nightjar",
    "Osprey",
    "Otter",
    "Petrel",
    "Plover",
    "Quail",
    "Raven",
    "Salmon",
    "Shrike",
    "Stoat",
    "Swift",
    "Tern",
    "Urchin",
    "Vixen",
    "Weasel",
    "Wren",
];

const PLACE_HEADS: [&str; 50] = [
    "Alder", "Amber", "Ash", "Barrow", "Bitter", "Black", "Bram", "Brine", "Broad", "Candle", "Carrow",
    "Cinder", "Cold", "Crow", "Deep", "Drift", "Dun", "Elder", "Ever", "Fallow", "Fen", "Frost", "Gallows",
    "Glass", "Gorse", "Hazel", "Heather", "Holm", "Iron", "Kettle", "Lark", "Lantern", "Marsh", "Mill",
    "Mist", "Nettle", "Oaken", "Otter", "Pine", "Quarry", "Raven", "Rush", "Salt", "Shingle", "Stone",
    "Thistle", "Thorn", "Under", "Whistle", "Willow",
];

const PLACE_TAILS: [&str; 20] = [
    "bourne", "bridge", "burgh", "combe", "croft", "dale", "field", "ford", "gate", "ham", "haven", "holt",
    "lock", "mere", "mouth", "ness", "stead", "thorpe", "wick", "worth",
];

const TRADES: [&str; 25] = [
    "repairs",
    "forges",
    "smuggles",
    "paints",
    "catalogues",
    "guards",
    "tunes",
    "embroiders",
    "counterfeits",
    "measures",
    "restores",
    "auctions",
    "translates",
    "hoards",
    "polishes",
    "inherits",
    "forbids",
    "distils",
    "blesses",
    "breeds",
    "photographs",
    "buries",
    "ferries",
    "audits",
    "dreams of",
];

const THINGS: [&str; 40] = [
    "tide clocks",
    "church bells",
    "weather vanes",
    "glass eyes",
    "carrier pigeons",
    "salt ledgers",
    "funeral barges",
    "star charts",
    "music boxes",
    "paper lanterns",
    "whale oil",
    "love letters",
    "silk gloves",
    "clay pipes",
    "wax seals",
    "tin soldiers",
    "signal flags",
    "pearl buttons",
    "quinine",
    "chess sets",
    "sermons",
    "hunting hounds",
    "beehives",
    "counterweights",
    "barometers",
    "fiddles",
    "tapestries",
    "census rolls",
    "grave markers",
    "ship models",
    "saffron",
    "falconry hoods",
    "marionettes",
    "tobacco",
    "keys",
    "orchids",
    "harpsichords",
    "telescopes",
    "cutlasses",
    "almanacs",
];

const GROUPS: [&str; 20] = [
    "Guild",
    "Brotherhood",
    "Company",
    "Assembly",
    "Order",
    "Chapter",
    "Society",
    "League",
    "Bank",
    "Circle",
    "Syndicate",
    "Academy",
    "Tribunal",
    "Consortium",
    "Fellowship",
    "Registry",
    "Union",
    "Choir",
    "Council",
    "Lodge",
];

const OBJECTS: [&str; 25] = [
    "Astrolabe",
    "Bell",
    "Chalice",
    "Compass",
    "Crown",
    "Dagger",
    "Diary",
    "Flute",
    "Goblet",
    "Hourglass",
    "Key",
    "Lamp",
    "Locket",
    "Mask",
    "Mirror",
    "Needle",
    "Orb",
    "Psalter",
    "Quill",
    "Ring",
    "Sceptre",
    "Tablet",
    "Urn",
    "Violin",
    "Whistle",
];

const RULES: [&str; 10] =
    ["Law", "Custom", "Oath", "Paradox", "Tithe", "Method", "Heresy", "Calendar", "Doctrine", "Engine"];

const HAPPENINGS: [&str; 10] =
    ["Siege", "Fire", "Wedding", "Flood", "Trial", "Mutiny", "Coronation", "Plague", "Treaty", "Wreck"];

const FILLER: [&str; 48] = [
    "nobody", "speaks", "about", "that", "winter", "until", "the", "ships", "return", "and", "every",
    "child", "learns", "an", "old", "song", "before", "market", "opens", "while", "rain", "falls", "over",
    "slate", "roofs", "with", "some", "patience", "letters", "arrive", "late", "from", "distant", "cousins",
    "who", "never", "wrote", "their", "names", "under", "harvest", "moons", "where", "brothers", "quarrel",
    "for", "small", "debts",
];

/// Numbers that look like chance and are the same in every run (`SplitMix64`, <https://prng.di.unimi.it/splitmix64.c>).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % sides as u64) as usize
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.roll(list.len())]
    }
}

/// Returns the `n`th of all pairs, spread so that neighbours have little in common. Different below the number of pairs.
fn pair<'a>(heads: &[&'a str], tails: &[&'a str], n: usize) -> (&'a str, &'a str) {
    let all = heads.len() * tails.len();
    let at = (n * 1_009) % all;
    (heads[at % heads.len()], tails[at / heads.len()])
}

fn place(n: usize) -> String {
    let (head, tail) = pair(&PLACE_HEADS, &PLACE_TAILS, n);
    format!("{head}{tail}")
}

fn filler(dice: &mut Dice, words: usize) -> String {
    let mut text = String::new();
    for n in 0..words {
        text.push_str(dice.pick(&FILLER));
        text.push_str(if n % 12 == 11 { ". " } else { " " });
    }
    text
}

struct Draft {
    entry_type: EntryType,
    name: String,
    title: Option<String>,
    aliases: Vec<String>,
    fact: String,
}

/// What the `n`th entry is: of ten, five are people, two places, and one each a group, a thing, and a custom or an event.
fn draft(n: usize, dice: &mut Dice) -> Draft {
    let (ten, of_ten) = (n / 10, n % 10);
    let mut draft = Draft {
        entry_type: EntryType::Character,
        name: String::new(),
        title: None,
        aliases: vec![],
        fact: format!("{} {} in {}.", dice.pick(&TRADES), dice.pick(&THINGS), place(dice.roll(1000))),
    };
    match of_ten {
        0..=4 => {
            let person = ten * 5 + of_ten;
            let (first, last) = pair(&FIRST, &LAST, person);
            draft.name = format!("{first} {last}");
            if person.is_multiple_of(3) {
                draft.title = Some(TITLES[person / 3 % TITLES.len()].to_owned());
            }
            if person.is_multiple_of(2) {
                let (colour, beast) = pair(&COLOURS, &BEASTS, person / 2);
                draft.aliases.push(format!("the {colour} {beast}"));
            }
            draft.fact = format!("{first} {}", draft.fact);
        }
        5 | 6 => {
            draft.entry_type = EntryType::Location;
            draft.name = place(ten * 2 + of_ten - 5);
            draft.fact = format!("A town that {}", draft.fact);
        }
        7 => {
            draft.entry_type = EntryType::Organization;
            let (colour, group) = pair(&COLOURS, &GROUPS, ten);
            draft.name = format!("The {colour} {group} of {}", place(dice.roll(1000)));
            draft.fact = format!("It {}", draft.fact);
        }
        8 => {
            draft.entry_type = EntryType::Item;
            let (colour, object) = pair(&COLOURS, &OBJECTS, ten);
            draft.name = format!("{colour} {object}");
            draft.fact = format!("Whoever holds it {}", draft.fact);
        }
        _ if ten.is_multiple_of(2) => {
            draft.entry_type = EntryType::Concept;
            let (beast, rule) = pair(&BEASTS, &RULES, ten / 2);
            draft.name = format!("{beast}'s {rule}");
            draft.fact = format!("By it everyone {}", draft.fact);
        }
        _ => {
            draft.entry_type = EntryType::Event;
            draft.name = format!("The {} of {}", HAPPENINGS[ten / 2 % HAPPENINGS.len()], place(ten));
            draft.fact = format!("Since then nobody {}", draft.fact);
        }
    }
    draft
}

/// Returns the first `count` entries, of up to 5,000, with some 50 words of text and `more` of filling each.
pub fn entries(count: usize, more: usize) -> Vec<Entry> {
    let (mut dice, mut filling) = (Dice(7), Dice(13));
    (0..count).map(|n| entry(n, &mut dice, &filler(&mut filling, more))).collect()
}

fn entry(n: usize, dice: &mut Dice, more: &str) -> Entry {
    let Draft { entry_type, name, title, aliases, fact } = draft(n, dice);
    let (before, after) = (filler(dice, 20), filler(dice, 20) + more);
    let body = format!("# {name}\n\n{before}\n\n## Known for\n\n{fact}\n\n{after}\n");
    Entry {
        path: BookPath::new(format!("codex/vault/{}/{n:04}.md", entry_type.plural())).unwrap(),
        entry_type,
        summary: format!("A {entry_type} of the coast."),
        fields: serde_json::Map::new(),
        body: 0..body.len(),
        text: Arc::from(body),
        heading: None,
        type_from: TypeFrom::Folder(entry_type.plural().to_owned()),
        soul: None,
        warnings: vec![],
        name,
        title,
        aliases,
    }
}

/// Returns a manuscript of `count` chapters with about `words` words each, in paragraphs of some 70, in which people of the Codex appear.
pub fn chapters(count: usize, words: usize) -> Vec<Chapter> {
    let mut dice = Dice(11);
    (1..=count).map(|number| chapter(number, words, &mut dice)).collect()
}

fn chapter(number: usize, words: usize, dice: &mut Dice) -> Chapter {
    let mut text = format!("# Chapter {number}\n\n");
    for _ in 0..words / 70 {
        let (first, last) = pair(&FIRST, &LAST, dice.roll(2500));
        let deed = (dice.pick(&TRADES), dice.pick(&THINGS), place(dice.roll(1000)));
        let _ = write!(text, "{first} {last} {} {} in {}. {}\n\n", deed.0, deed.1, deed.2, filler(dice, 62));
    }
    Chapter {
        path: BookPath::new(format!("manuscript/{number:03}.md")).unwrap(),
        number: number as u32,
        number_from: NumberFrom::FileName,
        title: format!("Chapter {number}"),
        words,
        text: Arc::from(text),
        body_start: 0,
        time: StoryTime::default(),
    }
}
