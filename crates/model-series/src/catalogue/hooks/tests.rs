use store::{Cursor, Timestamp};

use crate::catalogue::tests::{NOW, define, draft, find, furnish, memory, quarters, repositories, text};
use crate::{
    AttributeSearch, BackOff, DefinitionDraft, Edit, Hook, HookState, SeriesChange, SeriesRef, SeriesWrite,
};

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

#[test]
fn failures_wait_longer_and_longer() {
    let back_off = BackOff { first_us: 1_000, longest_us: 60_000 };
    let mut state = HookState { cursor: Cursor(7), delivered: 3, ..HookState::default() };
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
    assert_eq!((state.cursor, state.delivered, state.failed, &*state.last_error), (Cursor(7), 3, 70, "down"));
    let done = state.after_success(Cursor(9), 2);
    assert_eq!((done.cursor, done.delivered, done.failures, done.failed), (Cursor(9), 5, 0, 70));
    assert!(done.is_due(Timestamp(0)));
    assert_eq!(&*done.last_error, "");
    assert_eq!(done.after_cut(Cursor(20)), HookState { cursor: Cursor(20), cuts: 1, ..done });
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
    let changes = store.feed(0, state.cursor, 1_000).await.expect("the feed");
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
        cursor: Cursor(5),
        failures: 2,
        retry_at: NOW,
        delivered: 3,
        failed: 4,
        cuts: 1,
        last_error: "why".into(),
    };
    let (_, fresh) = repository.hooks().await.expect("listed").remove(0);
    assert!(fresh.cursor.0 > 0, "told from its beginning on");
    repository.put_hook_state("h", &state).await.expect("stored");
    let changed = Hook { url: "https://example.org/other".into(), ..hook("h") };
    repository.put_hook(changed.clone()).await.expect("changed");
    assert_eq!(repository.hooks().await.expect("listed"), [(changed, state.clone())]);
    repository.remove_hook("h").await.expect("removed");
    repository.put_hook_state("h", &state).await.expect("nothing to store");
    assert_eq!(repository.hooks().await.expect("listed"), []);
    assert_eq!(repository.remove_hook("h").await.expect_err("gone").to_string(), "hook h is not known");
    let nowhere = Hook { url: "".into(), ..hook("h") };
    assert_eq!(repository.put_hook(nowhere).await.expect_err("refused").to_string(), "hook h has no address");
}
