use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use store::Store;

use crate::catalogue::tests::{
    NOW, all_changes, define, draft, find, furnish, memory, quarters, repositories, text, unit,
};
use crate::{
    AttributeKind, AttributeSearch, AttributeType, DefinitionDraft, Error, Hook, HookStatus, SeriesChange,
    SeriesRef, SeriesWrite, ServedHook, ServedHooks, Unit,
};
use strands::Edit;

/// A shard that no hook was registered with.
const NO_SHARD: u32 = u32::MAX;

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

#[tokio::test]
async fn changes_are_matched_by_what_hooks_chose() {
    let store = memory();
    let repository = repositories(&store).get_or_create("grid", NOW).await.expect("made");
    let elsewhere = repositories(&store).get_or_create("other", NOW).await.expect("made");
    furnish(&repository).await;
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
    let changes = all_changes(&store).await;
    let told = async |hook: Hook| {
        // Made after the changes, so what it was registered with is forgotten.
        let (all, mut served) = (repositories(&store), ServedHooks::default());
        repository.put_hook(Hook { name: "h".into(), ..hook }).await.expect("a hook");
        all.refresh_hooks(&mut served).await.expect("read");
        let matches = all.match_hooks(&served, (NO_SHARD, &changes)).await.expect("matched");
        let events: Vec<_> = matches.into_iter().map(|(_, event)| event).collect();
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
async fn hooks_are_stored_and_each_is_a_receiver_of_its_own() {
    let store = memory();
    let (all, mut served) = (repositories(&store), ServedHooks::default());
    let repository = all.get_or_create("grid", NOW).await.expect("made");
    define(&repository, draft("before")).await;
    assert!(all.refresh_hooks(&mut served).await.expect("read"), "never read before");
    assert!(!all.refresh_hooks(&mut served).await.expect("read"), "no news");
    let mut receivers = Vec::new();
    let mut refresh = async || {
        assert!(all.refresh_hooks(&mut served).await.expect("read"));
        let hooks: Vec<_> = served.iter().cloned().collect();
        hooks
    };
    repository.put_hook(hook("h")).await.expect("a hook");
    receivers.extend(refresh().await);
    assert_eq!(receivers[0].since.len(), store.feed_shards() as usize);
    let changed = hook_at("h", "https://example.org/other");
    repository.put_hook(changed.clone()).await.expect("changed");
    receivers.extend(refresh().await);
    assert_eq!((receivers[1].receiver, &receivers[1].hook), (receivers[0].receiver, &changed));
    assert_eq!(receivers[1].since, receivers[0].since);
    assert_eq!(repository.hooks().await.expect("listed"), [(changed.clone(), HookStatus::default())]);
    assert_eq!(repository.hook("h").await.expect("read"), Some((changed, HookStatus::default())));
    repository.remove_hook("h").await.expect("removed");
    assert!(refresh().await.is_empty());
    assert_eq!(repository.hook("h").await.expect("read"), None);
    repository.put_hook(hook("h")).await.expect("another of its name");
    receivers.extend(refresh().await);
    assert_ne!(receivers[2].receiver, receivers[0].receiver);
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
    assert_eq!(repository.hook("h").await.expect("read").map(|(hook, _)| hook).as_ref(), winner);

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

/// What a process that ended between the removal of a hook and that of its outbox has left.
#[tokio::test]
async fn nothing_is_left_of_a_hook_whose_removal_broke_off() {
    let store = memory();
    let all = repositories(&store);
    let repository = all.get_or_create("grid", NOW).await.expect("made");
    for name in ["gone", "stays"] {
        repository.put_hook(hook(name)).await.expect("a hook");
    }
    let mut served = ServedHooks::default();
    all.refresh_hooks(&mut served).await.expect("read");
    let hooks: Vec<_> = served.iter().cloned().collect();
    let gone = hooks.iter().find(|served| &*served.hook.name == "gone").expect("served");
    let statuses = async || {
        let mut statuses = Vec::new();
        for name in ["gone", "stays"] {
            let of = hooks.iter().find(|served| &*served.hook.name == name).expect("served");
            statuses.push(delivery::read_status(&store, &of.tenant, of.receiver).await.expect("read"));
        }
        statuses.iter().map(|status| status.pending).collect::<Vec<_>>()
    };
    fail_to_notify(&store, &hooks).await;
    assert_eq!(statuses().await, [1, 1]);
    let context = all.context(&gone.tenant).await.expect("it is there");
    context.unregister_hook("gone", &crate::StateCondition::NONE).await.expect("removed");
    drop(context);
    assert_eq!(statuses().await, [1, 1]);

    let all = repositories(&store);
    assert_eq!(all.sweep_hooks(&served).await.expect("swept"), 0, "somebody serves it still");
    assert!(all.refresh_hooks(&mut served).await.expect("read"));
    assert_eq!(all.sweep_hooks(&served).await.expect("swept"), 1);
    assert_eq!(statuses().await, [0, 1]);
    assert_eq!(all.sweep_hooks(&served).await.expect("swept"), 0);
    repository.remove_hook("stays").await.expect("removed");
    assert_eq!(statuses().await, [0, 0], "at once, and known until a sweep");
    assert_eq!(all.sweep_hooks(&ServedHooks::default()).await.expect("swept"), 1);
}

/// Has a message in the outbox of each.
async fn fail_to_notify(store: &Store, hooks: &[Arc<ServedHook>]) {
    let back_off = delivery::BackOff { first: Duration::from_secs(1), longest: Duration::from_secs(1) };
    let options = delivery::Options {
        name: "tests",
        page_changes_max: 1_000,
        batch_messages_max: 1,
        in_flight_max: 1,
        sends_max: 8,
        window_messages_max: 8,
        memory_bytes_max: 1 << 20,
        outbox_messages_max: 8,
        outbox_bytes_max: 1 << 20,
        patience: Duration::from_secs(1),
        back_off,
    };
    let receivers = hooks.iter().map(|hook| delivery::Receiver {
        id: hook.receiver,
        tenant: hook.tenant.clone(),
        since: Vec::new(),
        is_paused: false,
    });
    let follower = delivery::Delivery::open(store.clone(), options, receivers.collect()).await;
    let mut follower = follower.expect("it begins");
    let page = follower.read().await.expect("read").expect("a page");
    let matched = |hook: &Arc<ServedHook>| delivery::Match {
        receiver: hook.receiver,
        key: 0,
        payload: bytes::Bytes::from_static(b"x"),
    };
    follower.offer(&page, hooks.iter().map(matched).collect(), NOW).await.expect("offered");
    for batch in follower.batches(NOW).await.expect("batches") {
        follower.settle(batch.number, Err("refused"), NOW);
    }
    follower.flush(NOW).await.expect("flushed");
}
