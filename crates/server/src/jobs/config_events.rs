//! Telling receivers of changes of configuration. The model says what changed and whether somebody subscribed to it, `api-cps` words it,
//! `egress` sends it. Receivers are named by settings: a Kafka topic, and URLs.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use api_cps::{ChangeData, PlaceChange, PlaceTexts, change_event};
use bytes::Bytes;
use delivery::{BackOff, Batch, Match, Options, Page, Receiver};
use model_config::{Action, ConfigChange, Configs, Error, Subscriptions};
use store::{Change, ErrorKind, Tenant};

use super::follower::{self, Sent, Shared, Source};
use super::job::{Job, ONE, When, Work};
use super::sinks::Sinks;
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
                is_known: false,
            };
            follower::follow(shared, events).await;
        }
        None => {
            follower::forget(&store, LEASE).await;
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
    /// Whether receivers were told to the follower.
    is_known: bool,
}

impl ConfigEvents {
    /// The events of one change, if somebody subscribed to it; `known` are the subscriptions of tenants that were looked up.
    async fn events(
        &self,
        change: &Change,
        known: &mut HashMap<u32, Option<Subscriptions>>,
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
        let subscriptions = match known.get(&tenant.number()) {
            Some(subscriptions) => subscriptions,
            None => {
                let found = self.subscriptions(tenant).await?;
                known.entry(tenant.number()).or_insert(found)
            }
        };
        let is_wanted = subscriptions.as_ref().is_some_and(|subscriptions| subscriptions.concerns(&told));
        if is_wanted { self.worded(tenant, &told).await } else { Ok(Vec::new()) }
    }

    /// The events of a change, one for each place that it tells; with data where these are wanted and to be had.
    async fn worded(&self, tenant: &Tenant, change: &ConfigChange) -> Result<Vec<String>, Error> {
        let mut data = match self.data_max {
            Some(max) => {
                let configs = self.configs.of_tenant(tenant.clone());
                Some(ChangeData::open(&configs, change, max).await?)
            }
            None => None,
        };
        let mut events = Vec::new();
        for (index, (action, xpath)) in places(change).enumerate() {
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

    /// `None`: the tenant is gone, and its changes concern nobody.
    async fn subscriptions(&self, tenant: &Tenant) -> Result<Option<Subscriptions>, Error> {
        match self.configs.of_tenant(tenant.clone()).subscriptions().await {
            Ok(subscriptions) => Ok(Some(subscriptions)),
            Err(Error::Store(error)) if error.kind() == ErrorKind::TenantRemoved => Ok(None),
            Err(error) => Err(error),
        }
    }
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
        Ok(!std::mem::replace(&mut self.is_known, true))
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
    use super::*;

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
