//! People and whom they know: functions of the seed and a number, and their bodies as the REST API takes them.

/// First names; a person's name begins with one of them.
const FIRST: [&str; 24] = [
    "amara", "bilal", "chiara", "diego", "elif", "farah", "goran", "hana", "ivan", "jun", "kofi", "lena",
    "mei", "noah", "olga", "pedro", "qing", "rosa", "sami", "tariq", "uma", "vera", "wei", "yuki",
];
/// Family names.
const LAST: [&str; 24] = [
    "adeyemi", "becker", "castro", "dubois", "eriksen", "fischer", "garcia", "haddad", "ito", "jansen",
    "kowalski", "lopez", "moreau", "nguyen", "okafor", "patel", "quispe", "rossi", "santos", "tanaka",
    "umarov", "vasquez", "wang", "zhang",
];
/// Where people live.
const CITIES: [&str; 16] = [
    "Beijing",
    "Berlin",
    "Bogota",
    "Dakar",
    "Hong Kong",
    "Istanbul",
    "Jakarta",
    "Lagos",
    "Lima",
    "London",
    "Madrid",
    "Mumbai",
    "Paris",
    "Shanghai",
    "Tokyo",
    "Vienna",
];
/// How far the targets of a person lie apart, at least.
const STRIDE: u64 = 7_919;

/// A person's properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The primary key.
    pub name: String,
    /// In years.
    pub age: u64,
    /// Where.
    pub city: &'static str,
}

/// Whom a person knows, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acquaintance {
    /// The number of the person who knows.
    pub source: u64,
    /// The number of the person known.
    pub target: u64,
    /// Day after 2010-01-01, in years of 360 days.
    day: u64,
    /// The weight in hundredths.
    hundredths: u64,
}

/// All people of a campaign. No two seeds have a name in common.
///
/// Invariant: the acquaintances of the numbers below `count * (count - 1)` are pairs of different people, none twice.
#[derive(Debug, Clone)]
pub struct People {
    seed: u64,
    count: u64,
    stride: u64,
}

impl People {
    /// `count` people (three at least) who may know each other; names reach beyond them.
    pub fn new(seed: u64, count: u64) -> Self {
        let count = count.max(3);
        let stride = (STRIDE..).find(|stride| common_divisor(*stride, count - 1) == 1);
        Self { seed, count, stride: stride.expect("there are primes above any number") }
    }

    /// How many may know each other.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Appends the name of person `number`.
    pub fn name(&self, number: u64, out: &mut Vec<u8>) {
        let bits = mixed(self.seed, number);
        out.extend_from_slice(pick(&FIRST, bits).as_bytes());
        out.push(b'.');
        out.extend_from_slice(pick(&LAST, bits >> 16).as_bytes());
        out.push(b'.');
        base36(self.seed, out);
        out.push(b'-');
        base36(number, out);
    }

    /// Appends the id of person `number`, without quotes, for a label of the id `label`.
    pub fn id(&self, label: &str, number: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(label.as_bytes());
        out.push(b':');
        self.name(number, out);
    }

    /// The id of person `number` as text.
    pub fn id_text(&self, label: &str, number: u64) -> String {
        let mut id = Vec::new();
        self.id(label, number, &mut id);
        String::from_utf8(id).expect("names are ASCII")
    }

    /// The properties of person `number`.
    pub fn person(&self, number: u64) -> Person {
        let mut name = Vec::new();
        self.name(number, &mut name);
        let bits = mixed(self.seed, number);
        Person {
            name: String::from_utf8(name).expect("names are ASCII"),
            age: 18 + (bits >> 32) % 73,
            city: pick(&CITIES, bits >> 48),
        }
    }

    /// Appends the body that creates person `number`.
    pub fn vertex(&self, number: u64, out: &mut Vec<u8>) {
        let bits = mixed(self.seed, number);
        out.extend_from_slice(br#"{"label":"person","properties":{"name":""#);
        self.name(number, out);
        out.extend_from_slice(br#"","age":"#);
        decimal(18 + (bits >> 32) % 73, out);
        out.extend_from_slice(br#","city":""#);
        out.extend_from_slice(pick(&CITIES, bits >> 48).as_bytes());
        out.extend_from_slice(br#""}}"#);
    }

    /// Acquaintance `number`: each round of `count` numbers gives everybody one more.
    pub fn acquaintance(&self, number: u64) -> Acquaintance {
        let (source, round) = (number % self.count, number / self.count);
        let target = (source + self.offset(round)) % self.count;
        let bits = mixed(!self.seed, number);
        Acquaintance { source, target, day: bits % 5_760, hundredths: 1 + (bits >> 32) % 99 }
    }

    /// The numbers of the acquaintances of the first `rounds` rounds in which `person` knows somebody (`out`) or is known.
    pub fn numbers_of(&self, person: u64, out: bool, rounds: u64) -> impl Iterator<Item = u64> + '_ {
        (0..rounds).map(move |round| {
            let source = if out { person } else { (person + self.count - self.offset(round)) % self.count };
            round * self.count + source
        })
    }

    /// Appends the body that creates acquaintance `number`.
    pub fn edge(&self, label: &str, number: u64, out: &mut Vec<u8>) {
        let edge = self.acquaintance(number);
        out.extend_from_slice(br#"{"label":"knows","outV":""#);
        self.id(label, edge.source, out);
        out.extend_from_slice(br#"","inV":""#);
        self.id(label, edge.target, out);
        out.extend_from_slice(br#"","outVLabel":"person","inVLabel":"person","properties":{"date":""#);
        out.extend_from_slice(edge.date().as_bytes());
        out.extend_from_slice(br#"","weight":0."#);
        out.extend_from_slice(edge.weight_digits().as_bytes());
        out.extend_from_slice(b"}}");
    }

    fn offset(&self, round: u64) -> u64 {
        1 + (round % (self.count - 1)) * (self.stride % (self.count - 1)) % (self.count - 1)
    }
}

impl Acquaintance {
    /// The day as `YYYYMMDD`.
    pub fn date(&self) -> String {
        let (year, rest) = (self.day / 360, self.day % 360);
        // Months of 28 days and more have a 28th.
        format!("{:04}{:02}{:02}", 2010 + year, 1 + rest / 30, 1 + rest % 28)
    }

    /// The weight, as a number.
    pub fn weight(&self) -> f64 {
        self.hundredths as f64 / 100.0
    }

    /// The digits of the weight behind its point, as short as they go.
    fn weight_digits(&self) -> String {
        match self.hundredths {
            tenths if tenths % 10 == 0 => (tenths / 10).to_string(),
            hundredths => format!("{hundredths:02}"),
        }
    }
}

fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

/// Bits that look random (the finish of `SplitMix64`).
fn mixed(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_mul(0xD1B5_4A32_D192_ED03) ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn pick(words: &[&'static str], bits: u64) -> &'static str {
    let index = usize::try_from(bits % words.len() as u64).expect("less than a length");
    words.get(index).copied().expect("less than the length")
}

fn decimal(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends `number` with the digits 0-9 and a-z, the lowest first: the beginnings of neighbours differ.
fn base36(mut number: u64, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    loop {
        let digit = usize::try_from(number % 36).expect("less than 36");
        out.push(*DIGITS.get(digit).expect("less than 36"));
        number /= 36;
        if number == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::Value as Json;

    use super::*;

    #[test]
    fn names_and_pairs_are_unique_and_nobody_knows_himself() {
        for count in [3, 10, 7_920, 15_839] {
            let people = People::new(7, count);
            let names: HashSet<String> = (0..count).map(|number| people.person(number).name).collect();
            assert_eq!(names.len() as u64, count);
            let rounds = (count - 1).min(9);
            let pairs: HashSet<(u64, u64)> = (0..count * rounds)
                .map(|number| people.acquaintance(number))
                .map(|edge| (edge.source, edge.target))
                .collect();
            assert_eq!(pairs.len() as u64, count * rounds, "{count}");
            assert!(pairs.iter().all(|(source, target)| source != target && target < &count));
        }
        assert_ne!(People::new(1, 9).person(5).name, People::new(2, 9).person(5).name);
    }

    #[test]
    fn the_numbers_of_a_person_are_found_from_both_ends() {
        let people = People::new(7, 50);
        for person in [0, 17, 49] {
            for out in [true, false] {
                let end = |number| {
                    let edge = people.acquaintance(number);
                    if out { edge.source } else { edge.target }
                };
                let expected: HashSet<u64> = (0..50 * 6).filter(|number| end(*number) == person).collect();
                assert_eq!(people.numbers_of(person, out, 6).collect::<HashSet<_>>(), expected);
            }
        }
    }

    #[test]
    fn bodies_are_those_of_the_api() {
        let people = People::new(7, 1_000);
        let mut body = Vec::new();
        people.vertex(41, &mut body);
        let vertex: Json = serde_json::from_slice(&body).unwrap();
        let person = people.person(41);
        assert_eq!(vertex["label"], "person");
        assert_eq!(vertex["properties"]["name"], person.name.as_str());
        assert_eq!(vertex["properties"]["age"].as_u64(), Some(person.age));
        assert_eq!(vertex["properties"]["city"], person.city);
        for number in 0..500 {
            body.clear();
            people.edge("3", number, &mut body);
            let edge: Json = serde_json::from_slice(&body).unwrap();
            let expected = people.acquaintance(number);
            assert_eq!(edge["outV"], people.id_text("3", expected.source).as_str());
            assert_eq!(edge["inV"], people.id_text("3", expected.target).as_str());
            assert_eq!(edge["properties"]["weight"].as_f64(), Some(expected.weight()));
            assert_eq!(edge["properties"]["date"], expected.date().as_str());
            let date = expected.date();
            assert!(date.len() == 8 && ("20100101"..="20251228").contains(&date.as_str()), "{date}");
        }
    }
}
