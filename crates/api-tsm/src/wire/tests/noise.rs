//! Damaged bodies: never a panic, and the same answer however they are cut.

use super::*;

#[derive(Clone, Debug)]
enum Damage {
    Flip(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Insert(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
    Word(prop::sample::Index, u32),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    let words = prop_oneof![Just(0), Just(u32::MAX), Just(0x7fff_ffff), Just(8), any::<u32>()];
    let text = prop_oneof![
        Just(b"[".to_vec()),
        Just(b"\"".to_vec()),
        Just(b",".to_vec()),
        prop::collection::vec(any::<u8>(), 1..9)
    ];
    prop_oneof![
        4 => (at(), any::<u8>()).prop_map(|(at, mask)| Damage::Flip(at, mask)),
        1 => at().prop_map(Damage::Cut),
        1 => (at(), text).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        1 => (at(), 1_usize..20).prop_map(|(at, length)| Damage::Remove(at, length)),
        2 => (at(), words).prop_map(|(at, word)| Damage::Word(at, word)),
    ]
}

fn apply(body: &mut Vec<u8>, damage: &Damage) {
    if body.is_empty() {
        return;
    }
    match damage {
        Damage::Flip(at, mask) => {
            let at = at.index(body.len());
            body[at] ^= mask;
        }
        Damage::Cut(at) => body.truncate(at.index(body.len())),
        Damage::Insert(at, bytes) => {
            let at = at.index(body.len());
            body.splice(at..at, bytes.iter().copied());
        }
        Damage::Remove(at, length) => {
            let at = at.index(body.len());
            let end = (at + length).min(body.len());
            body.drain(at..end);
        }
        Damage::Word(at, word) => {
            let at = at.index(body.len()) & !3;
            let end = (at + 4).min(body.len());
            body[at..end].copy_from_slice(&word.to_le_bytes()[..end - at]);
        }
    }
}

fn check(form: Form, samples: &[Sample], damages: &[Damage], chunks: &[usize]) {
    let mut body = write(form, Shape::Bulk, samples, None);
    for damage in damages {
        apply(&mut body, damage);
    }
    let text = |found: Result<Vec<Given>, WireError>| found.map(|given| format!("{given:?}"));
    let whole = text(read(form, Shape::Bulk, &body, &[]));
    let cut = text(read(form, Shape::Bulk, &body, chunks));
    assert_eq!(whole, cut, "{}", body.escape_ascii());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_rows(samples in samples(None), damages in prop::collection::vec(damage(), 1..4), chunk in 1_usize..60) {
        check(Form::Rows, &samples, &damages, &[chunk]);
    }

    #[test]
    fn damaged_compact(samples in samples(Some(60_000_000_000)), damages in prop::collection::vec(damage(), 1..4), chunk in 1_usize..60) {
        check(Form::Compact, &samples, &damages, &[chunk]);
    }

    #[test]
    fn damaged_csv(samples in samples(None), damages in prop::collection::vec(damage(), 1..4), chunk in 1_usize..60) {
        check(Form::Csv, &samples, &damages, &[chunk]);
    }

    #[test]
    fn damaged_arrow(samples in samples(None), damages in prop::collection::vec(damage(), 1..6), chunk in 1_usize..600) {
        check(Form::Arrow, &samples, &damages, &[chunk]);
    }

    #[test]
    fn noise(body in prop::collection::vec(any::<u8>(), 0..200), json in "[\\[\\]{}\",:0-9a-zA-Z. -]{0,80}", chunk in 1_usize..40) {
        for form in [Form::Rows, Form::Csv, Form::Arrow] {
            for body in [&body[..], json.as_bytes()] {
                let whole = read(form, Shape::Bulk, body, &[]);
                prop_assert_eq!(whole, read(form, Shape::Bulk, body, &[chunk]));
            }
        }
    }
}
