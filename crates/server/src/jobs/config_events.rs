//! Telling receivers of changes of configuration. The model says what changed and whether somebody subscribed to it, `api-cps` words it,
//! `egress` sends it. Receivers are named by settings: a Kafka topic, and URLs.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use api_cps::{ChangeData, PlaceChange, PlaceTexts, change_event};
use bytes::Bytes;
use delivery::{BackOff, Batch, Match, Options, Page, Receiver, Registry};
use model_config::{Action, ConfigChange, Configs, Error, Interest, Interests};
use store::{Change, ErrorKind, Tenant};

use super::follower::{self, Sent, Shared, Source};
use super::job::{Job, ONE, When, Work};
use super::sinks::Sinks;
use crate::admin::chain;
use crate::metrics::Metrics;
use crate::settings::Settings;

/// Names the lease, and the reader of the feed.
const LEASE: &str = "server/config-events";

/// Always: it takes its lease itself, for it acts far more often than it renews it.
pub(super) const JOB: Job =
    Job { name: LEASE, when: When::Always { count: ONE, run: |work| Box::pin(run(work)) } };

/// The first pause of a receiver that failed.
const PAUSE_FIRST: Duration = Duration::from_secs(1);
/// Receivers that are sent something at once.
const SENDS_MAX: usize = 64;
/// Batches of one receiver that wait in memory.
const WINDOW_BATCHES: usize = 4;
/// Events in memory, of all receivers together.
const MEMORY_BYTES_MAX: usize = 64 << 20;
/// How long events may wait in memory; then they go to outboxes.
const PATIENCE: Duration = Duration::from_secs(2);

/// Changes of the feed that are worded together, so that what they are worded as is bounded: of events that name places alone, and of
/// those that have data, up to `api_cps::CHANGE_DATA_BYTES_MAX` for each change.
const PAGE_CHANGES: usize = 1_000;
const PAGE_CHANGES_WITH_DATA: usize = 32;

/// The most bytes of events with data that are sent at once. The window of a receiver is some batches, and so bounded, too.
const BATCH_BYTES_MAX: usize = 16 << 20;

/// What stands for all places of a change that does not name them.
const EVERYWHERE: &str = "/";

async fn run(work: Work) {
    let Work { configs, store, clock, metrics, sinks, settings, .. } = work;
    match sinks {
        Some(sinks) => {
            let shared = Shared { store, clock, metrics: Arc::clone(&metrics.config_events) };
            let events = || ConfigEvents {
                configs: configs.clone(),
                sinks: Arc::clone(&sinks),
                options: delivery_options(&settings),
                data_max: settings.config_events.data_max(),
                metrics: Arc::clone(&metrics),
                registry: Registry::new(shared.store.clone(), LEASE),
                is_known: false,
                is_swept: false,
            };
            follower::follow(shared.clone(), events).await;
        }
        None => {
            follower::forget(&store, LEASE).await;
            sweep(&Registry::new(store, LEASE), &[]).await;
            std::future::pending().await
        }
    }
}

/// Receivers of change events of all tenants.
struct ConfigEvents {
    configs: Configs,
    sinks: Arc<Sinks>,
    options: Options,
    /// The most bytes of data of one event; `None`: none has data.
    data_max: Option<usize>,
    metrics: Arc<Metrics>,
    registry: Registry,
    /// Whether receivers were told to the follower.
    is_known: bool,
    /// Whether what earlier receivers left was looked for.
    is_swept: bool,
}

impl ConfigEvents {
    /// The events of one change, of places that somebody subscribed to; `known` is what is wanted of tenants that were looked up.
    async fn events(
        &self,
        change: &Change,
        known: &mut HashMap<u32, Option<Interests>>,
    ) -> Result<Vec<String>, Error> {
        let Some(told) = ConfigChange::of_record(&change.record) else { return Ok(Vec::new()) };
        let told = match told {
            Ok(told) => told,
            Err(_) => {
                tracing::error!(number = change.number, "a change of configuration is damaged, and not told");
                return Ok(Vec::new());
            }
        };
        let tenant = &change.partition.tenant;
        let interests = match known.get(&tenant.number()) {
            Some(interests) => interests,
            None => {
                let found = interests_of(&self.configs.of_tenant(tenant.clone())).await?;
                known.entry(tenant.number()).or_insert(found)
            }
        };
        let Some(interest) = interests.as_ref().and_then(|interests| interests.of(&told)) else {
            return Ok(Vec::new());
        };
        let wanted: Vec<_> = wanted_places(&told, interest).collect();
        if wanted.is_empty() { Ok(Vec::new()) } else { self.worded(tenant, &told, wanted).await }
    }

    /// The events of a change, one for each place that is wanted; with data where these are wanted and to be had.
    async fn worded(
        &self,
        tenant: &Tenant,
        change: &ConfigChange,
        wanted: Vec<(usize, (Action, &str))>,
    ) -> Result<Vec<String>, Error> {
        let mut data = match self.data_max {
            Some(max) => {
                let configs = self.configs.of_tenant(tenant.clone());
                Some(ChangeData::open(&configs, change, max).await?)
            }
            None => None,
        };
        let mut events = Vec::new();
        for (index, (action, xpath)) in wanted {
            let texts = match &mut data {
                Some(data) => {
                    let texts = data.of(action, xpath).await?;
                    if texts.is_none() {
                        self.metrics.config_event_data.data_left_out.fetch_add(1, Ordering::Relaxed);
                    }
                    texts
                }
                None => None,
            };
            let data = texts.as_ref().map(PlaceTexts::data);
            events.push(change_event(change, index, &PlaceChange { action, xpath, data }));
        }
        Ok(events)
    }
}

/// Notes receivers as such that will be removed one day, before anything is stored for them: settings name them, and do not say who is
/// gone.
async fn note(registry: &Registry, ids: &[u128]) -> Result<(), Error> {
    for id in ids {
        registry.note_removal(&Tenant::default(), *id).await?;
    }
    Ok(())
}

/// Removes what receivers have left that settings name no more, as far as that goes: else with the next start.
async fn sweep(registry: &Registry, ids: &[u128]) {
    let sweep = async {
        let (noted, mut count) = (registry.removals().await?, 0);
        for gone in noted.into_iter().filter(|noted| !ids.contains(&noted.receiver)) {
            registry.finish_removal(gone, Some(&Tenant::default())).await?;
            count += 1;
        }
        Ok::<_, store::Error>(count)
    };
    match sweep.await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "outboxes of receivers that settings name no more were removed"),
        Err(error) => tracing::warn!(error = chain(&error), "cannot remove the outbox of a receiver"),
    }
}

/// What is wanted of a tenant. `None`: it is gone, or what it subscribed to is damaged; its changes concern nobody then, and those of
/// others do not wait.
async fn interests_of(configs: &Configs) -> Result<Option<Interests>, Error> {
    match configs.subscriptions().await {
        Ok(subscriptions) => Ok(Some(subscriptions.interests())),
        Err(Error::Store(error)) if error.kind() == ErrorKind::TenantRemoved => Ok(None),
        Err(Error::Store(error)) if error.kind() == ErrorKind::Corrupt => {
            let tenant = configs.tenant().name();
            tracing::error!(error = chain(&error), tenant, "the subscriptions of a tenant are not served");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The places of a change that are wanted. Each with its number among all: it is the same event whatever else is wanted.
fn wanted_places<'c>(
    change: &'c ConfigChange,
    interest: Interest<'_>,
) -> impl Iterator<Item = (usize, (Action, &'c str))> {
    places(change).enumerate().filter(move |(_, (_, xpath))| interest.meets(xpath))
}

/// The places of a change; if they are more than it names, the whole anchor beside them.
fn places(change: &ConfigChange) -> impl Iterator<Item = (Action, &str)> {
    let named = change.places.iter().map(|(action, xpath)| (*action, &**xpath));
    let rest = (change.is_cut || change.places.is_empty()).then(|| {
        let action = if change.after.is_some() { Action::Replace } else { Action::Remove };
        (action, EVERYWHERE)
    });
    named.chain(rest)
}

impl Source for ConfigEvents {
    type Error = Error;

    const LEASE: &'static str = LEASE;
    const NAME: &'static str = "receivers of config events";

    fn options(&self) -> Options {
        self.options
    }

    fn store_error(error: &Error) -> Option<ErrorKind> {
        match error {
            Error::Store(error) => Some(error.kind()),
            _ => None,
        }
    }

    async fn refresh(&mut self) -> Result<bool, Error> {
        let ids: Vec<u128> = self.sinks.ids().collect();
        if !self.is_known {
            note(&self.registry, &ids).await?;
            self.is_known = true;
            return Ok(true);
        }
        if !self.is_swept {
            // This follower has taken over: nobody stores anything for others any more.
            sweep(&self.registry, &ids).await;
            self.is_swept = true;
        }
        Ok(false)
    }

    fn receivers(&self) -> Vec<Receiver> {
        // One that is new is told what the feed has, as far as somebody subscribed to it.
        let receiver = |id| Receiver { id, tenant: Tenant::default(), since: Vec::new(), is_paused: false };
        self.sinks.ids().map(receiver).collect()
    }

    async fn matches(&self, page: &Page) -> Result<Vec<Match>, Error> {
        let (mut known, mut matches) = (HashMap::new(), Vec::new());
        for change in &page.changes {
            for event in self.events(change, &mut known).await? {
                let payload = Bytes::from(event);
                // Of one anchor in order: all changes of an anchor lie in one partition.
                let key = change.partition.bucket.into();
                matches.extend(self.sinks.ids().map(|receiver| Match {
                    receiver,
                    key,
                    payload: payload.clone(),
                }));
            }
        }
        Ok(matches)
    }

    fn send(&self, batch: Batch) -> impl Future<Output = Sent> + Send + 'static {
        let sinks = Arc::clone(&self.sinks);
        async move {
            let sent = sinks.send(batch.receiver, &batch.messages).await;
            if let Err(error) = &sent {
                tracing::info!(
                    receiver = sinks.name(batch.receiver),
                    error,
                    "events of configuration were not accepted"
                );
            }
            sent
        }
    }
}

fn delivery_options(settings: &Settings) -> Options {
    let events = &settings.config_events;
    let batch_messages_max = batch_events_max(events.changes_max, events.data_max());
    let back_off = BackOff { first: PAUSE_FIRST, longest: events.pause_max.0.max(PAUSE_FIRST) };
    Options {
        name: LEASE,
        page_changes_max: if events.data_max().is_some() { PAGE_CHANGES_WITH_DATA } else { PAGE_CHANGES },
        batch_messages_max,
        // One at a time: events of an anchor stay in order.
        in_flight_max: 1,
        sends_max: SENDS_MAX,
        window_messages_max: batch_messages_max.saturating_mul(WINDOW_BATCHES),
        memory_bytes_max: MEMORY_BYTES_MAX,
        outbox_messages_max: events.outbox_changes_max as u64,
        outbox_bytes_max: events.outbox_bytes_max.as_usize() as u64,
        patience: PATIENCE,
        back_off,
    }
}

/// The most events that are sent at once: with data, whose text may double in an event, as many as fit.
fn batch_events_max(changes_max: usize, data_max: Option<usize>) -> usize {
    let fit = data_max.map(|bytes| BATCH_BYTES_MAX / bytes.saturating_mul(2).max(1));
    fit.map_or(changes_max, |fit| changes_max.min(fit.max(1)))
}

#[cfg(test)]
mod tests {
    use model_config::testing::change_of;
    use model_config::{AnchorSubscription, DataspaceSubscription, Subscriptions};
    use store::{Clock, Timestamp};

    use super::*;

    fn wanted(xpaths: &[&str]) -> Subscriptions {
        let xpaths = xpaths.iter().map(|xpath| (*xpath).into()).collect();
        let anchors = vec![AnchorSubscription { name: "a".into(), xpaths }];
        Subscriptions { dataspaces: vec![DataspaceSubscription { name: "d".into(), anchors }] }
    }

    #[test]
    fn places_that_are_not_wanted_are_not_told() {
        let change = change_of(&["/a", "/b", "/c[@k='1' and @j='2']"]);
        let told = |change: &ConfigChange, xpaths: &[&str]| -> Vec<usize> {
            let interests = wanted(xpaths).interests();
            let interest = interests.of(change).unwrap();
            wanted_places(change, interest).map(|(index, _)| index).collect()
        };
        assert_eq!(told(&change, &[]), [0, 1, 2]);
        assert_eq!(told(&change, &["/b/x"]), [1]);
        assert_eq!(told(&change, &["/c[@j=\"2\" and @k=1]", "/a"]), [0, 2]);
        assert!(told(&change, &["/c[@j='3']"]).is_empty());
        let cut = ConfigChange { is_cut: true, ..change };
        assert_eq!(told(&cut, &["/z"]), [3], "it may be among those that are not named");
    }

    #[tokio::test]
    async fn damaged_subscriptions_of_a_tenant_hold_up_nobody() {
        let clock = Clock::manual(Timestamp(1));
        let store = store::testing::memory(clock.clone());
        let configs = Configs::new(store, clock, model_config::ConfigOptions::recommended());
        let put = |subscriptions: &mut Subscriptions| {
            *subscriptions = wanted(&["/a"]);
            Ok::<_, Error>(())
        };
        configs.change_subscriptions(put).await.unwrap();
        assert!(interests_of(&configs).await.unwrap().is_some());
        model_config::testing::damage_subscriptions(&configs).await.unwrap();
        assert!(configs.subscriptions().await.is_err());
        assert!(interests_of(&configs).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn what_receivers_left_that_are_not_named_any_more_goes() {
        let store = store::testing::memory(Clock::manual(Timestamp(1)));
        let registry = Registry::new(store, LEASE);
        note(&registry, &[1, 2]).await.unwrap();
        sweep(&registry, &[1, 2]).await;
        let noted = async || {
            let removals = registry.removals().await.unwrap();
            removals.iter().map(|removal| removal.receiver).collect::<Vec<_>>()
        };
        assert_eq!(noted().await, [1, 2], "they are found by whoever starts next");
        sweep(&registry, &[2]).await;
        assert_eq!(noted().await, [2]);
    }

    #[test]
    fn fewer_events_are_sent_at_once_where_they_may_be_large() {
        for (changes_max, data_max, expected) in [
            (100, None, 100),
            (100, Some(256 << 10), 32),
            (10, Some(256 << 10), 10),
            (100, Some(1), 100),
            (100, Some(BATCH_BYTES_MAX), 1),
        ] {
            assert_eq!(batch_events_max(changes_max, data_max), expected, "{data_max:?}");
        }
    }
}
