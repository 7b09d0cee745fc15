//! Random draws of the workloads: one seed, one sequence, on every machine and in every version
//! (the generators of the crate `rand` promise less), at a nanosecond a draw.

/// A sequence of draws (`SplitMix64`).
#[derive(Debug, Clone)]
pub struct Draws {
    state: u64,
}

impl Draws {
    /// The sequence of `seed` and `stream`; streams of one seed (users, entities) are independent.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut draws = Self { state: seed };
        draws.state = draws.draw() ^ stream.wrapping_mul(0xD1B5_4A32_D192_ED03);
        draws.state = draws.draw();
        draws
    }

    /// 64 random bits.
    pub fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `0..bound` (0 if `bound` is 0).
    pub fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.draw()) * u128::from(bound);
        u64::try_from(wide >> 64).expect("the upper half of a product of two u64 fits")
    }

    /// An index of something `length` long.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("less than a length")
    }

    /// A random UUID, version 4, in its usual spelling.
    pub fn uuid(&mut self) -> [u8; 36] {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let bits = (u128::from(self.draw()) << 64) | u128::from(self.draw());
        let bits = (bits & !(0xF << 76) | (4 << 76)) & !(0x3 << 62) | (2 << 62);
        let mut text = [b'-'; 36];
        let places = (0..36).filter(|place| ![8, 13, 18, 23].contains(place));
        for (digit, place) in places.enumerate() {
            let nibble = usize::try_from((bits >> (124 - 4 * digit)) & 0xF).expect("four bits");
            if let (Some(to), Some(from)) = (text.get_mut(place), HEX.get(nibble)) {
                *to = *from;
            }
        }
        text
    }

    /// A number in `0..100` as the published scripts' language prints most of them: 17 characters,
    /// never ending in a zero, so that no two texts mean one value. Each is what such a client prints of its value: where
    /// two numbers lie further apart than the last digit tells (from 8 and from 64 on), the text is looked at.
    pub fn hundred(&mut self) -> [u8; 17] {
        let whole = self.below(100);
        loop {
            let text = self.seventeen(whole);
            if !(8..10).contains(&whole) && whole < 64 || is_printed(&text) {
                return text;
            }
        }
    }

    fn seventeen(&mut self, whole: u64) -> [u8; 17] {
        let mut digits = self.below(1_000_000_000_000_000);
        if digits.is_multiple_of(10) {
            digits += 1 + self.below(9);
        }
        let mut text = [b'0'; 17];
        let point = if whole < 10 { 1 } else { 2 };
        for (place, byte) in text.iter_mut().enumerate().rev() {
            if place == point {
                *byte = b'.';
            } else if place > point {
                *byte = ascii(digits % 10);
                digits /= 10;
            } else if place + 1 == point {
                *byte = ascii(whole % 10);
            } else {
                *byte = ascii(whole / 10);
            }
        }
        text
    }
}

/// Whether a text is the shortest that means its value.
fn is_printed(text: &[u8]) -> bool {
    let text = std::str::from_utf8(text).expect("digits and a point");
    text.parse::<f64>().is_ok_and(|value| zmij::Buffer::new().format(value) == text)
}

fn ascii(digit: u64) -> u8 {
    b'0' + u8::try_from(digit % 10).expect("less than ten")
}

#[cfg(test)]
mod tests {
    use super::Draws;

    #[test]
    fn one_seed_is_one_sequence_and_streams_differ() {
        let draws = |seed, stream| {
            let mut draws = Draws::new(seed, stream);
            [draws.draw(), draws.draw(), draws.draw()]
        };
        assert_eq!(draws(7, 1), draws(7, 1));
        assert_ne!(draws(7, 1), draws(7, 2));
        assert_ne!(draws(7, 1), draws(8, 1));
    }

    #[test]
    fn below_reaches_every_number_and_no_other() {
        let mut draws = Draws::new(1, 0);
        let mut seen = [0_u32; 7];
        for _ in 0..7_000 {
            seen[draws.index(7)] += 1;
        }
        assert!(seen.iter().all(|count| (800..1_200).contains(count)), "{seen:?}");
        assert_eq!(draws.below(0), 0);
    }

    #[test]
    fn uuids_are_of_version_4() {
        let mut draws = Draws::new(1, 0);
        let mut seen = std::collections::HashSet::new();
        for _ in 0..1_000 {
            let uuid = String::from_utf8(draws.uuid().to_vec()).unwrap();
            let parts: Vec<usize> = uuid.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12], "{uuid}");
            assert_eq!(uuid.as_bytes()[14], b'4');
            assert!(b"89ab".contains(&uuid.as_bytes()[19]), "{uuid}");
            assert!(seen.insert(uuid));
        }
    }

    #[test]
    fn values_are_numbers_below_a_hundred_of_17_characters() {
        let mut draws = Draws::new(1, 0);
        let mut sum = 0.0;
        for _ in 0..10_000 {
            let text = String::from_utf8(draws.hundred().to_vec()).unwrap();
            let value: f64 = text.parse().unwrap();
            assert!((0.0..100.0).contains(&value) && !text.ends_with('0'), "{text}");
            assert_eq!(text, value.to_string());
            assert!(serde_json::from_str::<serde_json::Value>(&text).unwrap().is_number());
            sum += value;
        }
        assert!((49.0..51.0).contains(&(sum / 10_000.0)), "{sum}");
    }
}
