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
    check_cuts(form, &body, chunks, LIMITS);
}

/// The body is the same to its reader whole and in pieces.
fn check_cuts(form: Form, body: &[u8], chunks: &[usize], limits: ReadLimits) {
    let text = |found: Result<Vec<Given>, WireError>| found.map(|given| format!("{given:?}"));
    let whole = text(read_within(form, Shape::Bulk, body, &[], limits));
    let cut = text(read_within(form, Shape::Bulk, body, chunks, limits));
    assert_eq!(whole, cut, "{}", body.escape_ascii());
}

/// Lines and items about as long as they may be: none that is refused in pieces may pass whole.
#[test]
fn what_is_too_long_is_so_however_it_is_cut() {
    let limits = ReadLimits { item_bytes_max: 100, ..LIMITS };
    for length in 60..130 {
        let (long, gap) = ("x".repeat(length), " ".repeat(length));
        let json = [
            format!(r#"[{{"Name":"{long}","Data":[]}}]"#),
            format!(r#"[{{"Name":"a","{long}":1,"Data":[]}}]"#),
            format!(r#"[{{"Name":"a","Other":["{long}"],"Data":[]}}]"#),
            format!(r#"[{{"Name":"a","Other"{gap}:{gap}1,"Data":[]}}]"#),
            format!(r#"[{{"Name":"a","Other"{gap}1,"Data":[]}}]"#),
            format!(r#"[{{"Name":"a","Data":[{{"From":"{long}","Value":1}}]}}]"#),
            format!(
                r#"[{{"Name":"a",{gap}"Start":"2026-01-01T00:00:00Z","Values":[1,{gap}0.{}]}}]"#,
                "1".repeat(length)
            ),
        ];
        let csv = [
            format!("series,time,value\n\"{long}\",2026-01-01T00:00:00Z,1\n"),
            format!("series,time,value\na,2026-01-01T00:00:00Z,1.{}", "0".repeat(length)),
            // The usual columns, which are read in a shorter way, and a series again.
            format!(
                "series,time,value,flag\n{long},2026-01-01T00:00:00Z,1,Valid\n\
                 {long},2026-01-01T00:15:00Z,1.25,Faulty\r\n"
            ),
        ];
        for chunk in 1..=140 {
            json.iter().for_each(|body| check_cuts(Form::Rows, body.as_bytes(), &[chunk], limits));
            csv.iter().for_each(|body| check_cuts(Form::Csv, body.as_bytes(), &[chunk], limits));
        }
    }
    let long = format!(r#"[{{"Name":"{}","Data":[]}}]"#, "x".repeat(100));
    let refused = read_within(Form::Rows, Shape::Bulk, long.as_bytes(), &[], limits).unwrap_err();
    assert_eq!(refused.reason, "an item of more than 100 bytes at byte 2 (write_item_bytes_max)");
    let csv = |name: usize| {
        let body = format!("series,time,value,flag\n{},2026-01-01T00:00:00Z,1,Valid\n", "x".repeat(name));
        read_within(Form::Csv, Shape::Bulk, body.as_bytes(), &[], limits).map(|given| given.len())
    };
    assert_eq!(csv(70), Ok(1));
    let beyond = csv(71).unwrap_err();
    assert!(refused.is_limit && beyond.is_limit);
    assert_eq!(beyond.reason, "more than 100 bytes (write_item_bytes_max), in line 2");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((1_500 * ProptestConfig::default().cases).div_ceil(256)))]

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
