use futures_util::future::join_all;
use store::{Cursor, Timestamp};

use crate::catalogue::tests::{
    NOW, changes_since, define, draft, find, furnish, memory, quarters, repositories, text, unit,
};
use crate::{
    AttributeKind, AttributeSearch, AttributeType, BackOff, DefinitionDraft, Error, Hook, HookState,
    SeriesChange, SeriesRef, SeriesWrite, Unit,
};
use strands::Edit;

fn cursor(n: u8) -> Cursor {
    Cursor::from_bytes([n; 16])
}

fn hook(name: &str) -> Hook {
    Hook {
        name: name.into(),
        url: "https://example.org/hook".into(),
        series: None,
        attributes: Vec::new(),
        secret: Some("s".into()),
        is_active: true,
    }
}

fn hook_at(name: &str, url: &str) -> Hook {
    Hook { url: url.into(), ..hook(name) }
}

#[test]
fn failures_wait_longer_and_longer() {
    let back_off = BackOff { first_us: 1_000, longest_us: 60_000 };
    let mut state = HookState { cursors: vec![cursor(7)], delivered: 3, ..HookState::default() };
    let mut waits = Vec::new();
    for _ in 0..70 {
        assert!(state.is_due(state.retry_at));
        let now = state.retry_at;
        state = state.after_failure("down", now, back_off);
        assert!(!state.is_due(now));
        waits.push(state.retry_at.0 - now.0);
    }
    assert_eq!(waits[..8], [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    assert_eq!(waits[69], 60_000);
    assert_eq!(
        (state.cursor(0), state.delivered, state.failed, &*state.last_error),
        (cursor(7), 3, 70, "down")
    );
    let done = state.after_success((0, cursor(9)), 2);
    assert_eq!((done.cursor(0), done.delivered, done.failures, done.failed), (cursor(9), 5, 0, 70));
    assert!(done.is_due(Timestamp(0)));
    assert_eq!(&*done.last_error, "");
    let cut = done.after_cut((2, cursor(20)));
    let cursors = vec![cursor(9), Cursor::default(), cursor(20)];
    assert_eq!(cut, HookState { cursors, cuts: 1, ..done });
    assert_eq!((cut.cursor(2), cut.cursor(3)), (cursor(20), Cursor::default()));
}

#[tokio::test]
async fn hooks_are_told_of_what_they_chose() {
    let store = memory();
    let repository = repositories(&store).get_or_create("grid", NOW).await.expect("made");
    let elsewhere = repositories(&store).get_or_create("other", NOW).await.expect("made");
    furnish(&repository).await;
    repository.put_hook(hook("all")).await.expect("a hook");
    let (_, state) = repository.hooks().await.expect("listed").remove(0);
    let tagged = DefinitionDraft { attributes: vec![text("Tag", "x")], ..draft("load 1") };
    define(&repository, tagged).await;
    define(&repository, draft("load 2")).await;
    define(&elsewhere, draft("load 1")).await;
    for name in ["load 1", "load 2"] {
        let series = find(&repository, name).await;
        let edit = Edit::Put(quarters(0, &[1.0]));
        repository
            .write_all(vec![SeriesWrite { series, quotation: None, edit }], NOW)
            .await
            .expect("written");
    }
    repository.remove(SeriesRef::Name("load 2"), NOW).await.expect("removed");
    let changes = changes_since(&store, &state).await;
    let told = async |hook: Hook| {
        let events = repository.hook_events(&hook, &changes).await.expect("matched");
        let kind = |change: &SeriesChange| match change {
            SeriesChange::Put(_) => "put",
            SeriesChange::Deleted(_) | SeriesChange::Replaced(_) => "other",
            SeriesChange::Defined(_) => "defined",
            SeriesChange::Changed(_) => "changed",
            SeriesChange::Removed(_) => "removed",
        };
        events
            .iter()
            .map(|event| format!("{} {}", kind(&event.change), event.series.name))
            .collect::<Vec<_>>()
    };
    // Points of what is gone are not told: its removal is.
    let all = ["defined load 1", "defined load 2", "put load 1", "removed load 2"];
    assert_eq!(told(hook("all")).await, all);
    assert_eq!(
        told(Hook { series: Some("%2".into()), ..hook("h") }).await,
        ["defined load 2", "removed load 2"]
    );
    let attributes = vec![AttributeSearch { name: "Tag".into(), value: None }];
    assert_eq!(told(Hook { attributes, ..hook("h") }).await, ["defined load 1", "put load 1"]);
    assert!(told(Hook { is_active: false, ..hook("h") }).await.is_empty());
}

#[tokio::test]
async fn hooks_and_their_states_are_kept() {
    let store = memory();
    let repository = repositories(&store).get_or_create("grid", NOW).await.expect("made");
    define(&repository, draft("before")).await;
    repository.put_hook(hook("h")).await.expect("a hook");
    let state = HookState {
        cursors: vec![cursor(5), cursor(6)],
        failures: 2,
        retry_at: NOW,
        delivered: 3,
        failed: 4,
        cuts: 1,
        last_error: "why".into(),
    };
    let (_, fresh) = repository.hooks().await.expect("listed").remove(0);
    assert_eq!(fresh.cursors.len(), store.feed_shards() as usize);
    assert_ne!(fresh.cursor(0), store.adopt_cursor(Cursor::default()), "told from its beginning on");
    let version = repository.hook("h").await.expect("read").expect("there").version;
    assert!(repository.put_hook_state("h", version, &state).await.expect("stored"));
    assert!(!repository.put_hook_state("h", version, &state).await.expect("answered"), "it has moved");
    let changed = hook_at("h", "https://example.org/other");
    repository.put_hook(changed.clone()).await.expect("changed");
    assert_eq!(repository.hooks().await.expect("listed"), [(changed, state.clone())]);
    let standing = repository.hook("h").await.expect("read").expect("there");
    assert_eq!((standing.hook, &standing.state), (hook_at("h", "https://example.org/other"), &state));
    repository.remove_hook("h").await.expect("removed");
    assert_eq!(repository.hook("h").await.expect("read"), None);
    repository.put_hook(hook("h")).await.expect("another of its name");
    let kept = repository.put_hook_state("h", standing.version, &state).await.expect("answered");
    assert!(!kept, "how far the one before was told says nothing of this one");
    repository.remove_hook("h").await.expect("removed");
    assert_eq!(repository.hooks().await.expect("listed"), []);
    assert_eq!(repository.remove_hook("h").await.expect_err("gone").to_string(), "hook h is not known");
    assert_eq!(
        repository.put_hook(hook_at("h", "")).await.expect_err("refused").to_string(),
        "hook h has no address"
    );
}

/// Of several that are created under one name at once, one is.
#[tokio::test]
async fn a_name_is_given_once() {
    let store = memory();
    let repository = repositories(&store).get_or_create("grid", NOW).await.expect("made");
    let hooks: Vec<_> =
        ["a", "b", "c", "d"].iter().map(|host| hook_at("h", &format!("https://{host}"))).collect();
    let made = join_all(hooks.iter().map(|hook| repository.create_hook(hook))).await;
    check_one(&made, "hook h exists already");
    let winner = made.iter().position(Result::is_ok).and_then(|place| hooks.get(place));
    assert_eq!(repository.hook("h").await.expect("read").map(|found| found.hook).as_ref(), winner);

    let units = [1.0, 2.0, 3.0].map(|factor| Unit { factor, ..unit("kW") });
    check_one(&join_all(units.map(|unit| repository.create_unit(unit))).await, "unit kW exists already");
    let types = [AttributeKind::Text, AttributeKind::Date].map(|kind| AttributeType {
        name: "Tag".into(),
        description: "".into(),
        kind,
        is_multiple: false,
    });
    let made = join_all(types.iter().map(|of_type| repository.create_attribute_type(of_type))).await;
    check_one(&made, "attribute type Tag exists already");
}

fn check_one(made: &[Result<(), Error>], refusal: &str) {
    assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 1, "{made:?}");
    for error in made.iter().filter_map(|made| made.as_ref().err()) {
        assert!(matches!(error, Error::AlreadyExists(_)), "{error}");
        assert_eq!(error.to_string(), refusal);
    }
}
