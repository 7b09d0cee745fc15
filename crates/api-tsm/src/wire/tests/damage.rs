//! Damaged Arrow bodies, byte by byte: refused or read, and never by way of a panic, which the log would call a bug.

use std::cell::RefCell;
use std::panic;
use std::sync::Once;

use super::*;

thread_local! {
    static PANICS: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// What `run` answers, and the panics on the way, caught or not.
fn with_panics<T>(run: impl FnOnce() -> T) -> (T, Vec<String>) {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            PANICS.with_borrow_mut(|panics| match panics {
                Some(panics) => panics.push(info.to_string()),
                None => usual(info),
            });
        }));
    });
    PANICS.set(Some(Vec::new()));
    let done = run();
    (done, PANICS.take().unwrap_or_default())
}

fn check_never_panics(body: &[u8], what: &str) {
    let (_, panics) = with_panics(|| read(Form::Arrow, Shape::Bulk, body, &[]).map(|_| ()));
    assert!(panics.is_empty(), "{what}: {panics:?} by {}", body.escape_ascii());
}

/// Bodies of all types of columns that are taken.
fn bodies() -> Vec<Vec<u8>> {
    let sample = |name: &str, count: i64| {
        let mut points = Points::default();
        for place in 0..count {
            let absent = place % 3 == 0;
            points.push(place * 900, place as f64, if absent { 8 | ABSENT } else { flags::VALID });
        }
        Sample { name: name.to_owned(), points }
    };
    let ours = write(Form::Arrow, Shape::Bulk, &[sample("a", 9), sample("b", 1), sample("c", 0)], None);
    std::iter::once(ours).chain(super::arrow::of_all_types()).collect()
}

#[test]
fn no_byte_of_an_arrow_body_can_make_the_library_panic() {
    for (number, body) in bodies().into_iter().enumerate() {
        check_never_panics(&body, "as it is");
        assert!(read(Form::Arrow, Shape::Bulk, &body, &[]).is_ok(), "body {number}");
        for place in 0..body.len() {
            for mutate in
                [|_| 0, |_| 0xff, |byte| byte ^ 1, |byte| byte ^ 0x80, |byte: u8| byte.wrapping_add(8)]
            {
                let mut body = body.clone();
                body[place] = mutate(body[place]);
                check_never_panics(&body, &format!("body {number}, byte {place}"));
            }
        }
    }
}

#[test]
fn stretches_outside_of_the_body_are_refused() {
    let body = bodies().swap_remove(0);
    // Each word that says a length or a place, made longer than there is: what was read before is refused in words.
    let mut refused = 0;
    for place in (0..body.len() - 8).step_by(8) {
        let mut body = body.clone();
        body[place + 3] = 0x7f;
        let (answer, panics) = with_panics(|| read(Form::Arrow, Shape::Bulk, &body, &[]));
        assert!(panics.is_empty(), "{place}: {panics:?}");
        refused += usize::from(answer.is_err_and(|error| error.reason.contains("does not fit its body")));
    }
    assert!(refused > 10, "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((2_000 * ProptestConfig::default().cases).div_ceil(256)))]
    #[test]
    fn several_damages_at_once_make_no_panic(
        which in 0_usize..64,
        damages in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![Just(0_u32), Just(u32::MAX), Just(1 << 31), 0_u32..99, any::<u32>()]), 1..6),
    ) {
        let bodies = bodies();
        let mut body = bodies[which % bodies.len()].clone();
        for (place, word) in damages {
            let at = place.index(body.len() - 4);
            body[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        check_never_panics(&body, "several");
    }
}
