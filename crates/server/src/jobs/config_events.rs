//! Telling receivers of changes of configuration. The model says what changed and whether somebody subscribed to it, `api-cps` words it,
//! `egress` sends it. Receivers are named by settings: a Kafka topic, and URLs.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use api_cps::{PlaceChange, change_event};
use bytes::Bytes;
use delivery::{BackOff, Batch, Match, Options, Page, Receiver};
use model_config::{Action, ConfigChange, Configs, Error, Subscriptions};
use store::{Change, ErrorKind, Tenant};

use super::follower::{self, Sent, Shared, Source};
use super::job::{Job, ONE, When, Work};
use super::sinks::Sinks;
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

/// What stands for all places of a change that does not name them.
const EVERYWHERE: &str = "/";

async fn run(work: Work) {
    let Work { configs, store, clock, metrics, sinks, settings, .. } = work;
    match sinks {
        Some(sinks) => {
            let shared = Shared { store, clock, metrics: Arc::clone(&metrics.config_events) };
            let options = delivery_options(&settings);
            follower::follow(shared, || ConfigEvents::new(configs.clone(), Arc::clone(&sinks), options))
                .await;
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
    /// Whether receivers were told to the follower.
    is_known: bool,
}

impl ConfigEvents {
    fn new(configs: Configs, sinks: Arc<Sinks>, options: Options) -> Self {
        Self { configs, sinks, options, is_known: false }
    }

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
        Ok(if is_wanted { worded(&told) } else { Vec::new() })
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

/// The events of a change: one for each of its places; if they are more than it names, one for the whole anchor beside them.
fn worded(change: &ConfigChange) -> Vec<String> {
    let named = change.places.iter().map(|(action, xpath)| (*action, &**xpath));
    let rest = (change.is_cut || change.places.is_empty()).then(|| {
        let action = if change.after.is_some() { Action::Replace } else { Action::Remove };
        (action, EVERYWHERE)
    });
    let places = named.chain(rest).map(|(action, xpath)| PlaceChange { action, xpath, data: None });
    places.enumerate().map(|(index, place)| change_event(change, index, &place)).collect()
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
    let back_off = BackOff { first: PAUSE_FIRST, longest: events.pause_max.0.max(PAUSE_FIRST) };
    Options {
        name: LEASE,
        batch_messages_max: events.changes_max,
        // One at a time: events of an anchor stay in order.
        in_flight_max: 1,
        sends_max: SENDS_MAX,
        window_messages_max: events.changes_max.saturating_mul(WINDOW_BATCHES),
        memory_bytes_max: MEMORY_BYTES_MAX,
        outbox_messages_max: events.outbox_changes_max as u64,
        outbox_bytes_max: events.outbox_bytes_max.as_usize() as u64,
        patience: PATIENCE,
        back_off,
    }
}
