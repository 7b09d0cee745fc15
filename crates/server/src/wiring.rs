//! Which front ends there are, and what of the settings each model and front end is given.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use anyhow::Context as _;
use api_http::{FrontEnd, MemoryBudget};
use api_hugegraph::{AccessOptions, AlgorithmJobs, AlgorithmOptions, Users};
use api_ngsi_ld::Api;
use delivery::BackOff;
use model_config::{ConfigOptions, Configs};
use model_entities::{Entities, IndexPolicy, Options};
use model_graph::{GraphOptions, Graphs};
use model_series::{Repositories, SeriesOptions, StrandOptions};
use ring::rand::{SecureRandom as _, SystemRandom};
use store::{Clock, Lane, Store};
use tenant_contexts::{ContextOptions, Contexts, FetchPolicy};

use crate::jobs::{HooksPolicy, Notifier};
use crate::settings::{AttributeIndexes, ContextFetch, HookSend, Settings};
use crate::units::Switch;
use crate::welcome::Served;

/// The first pause of a hook that failed.
const HOOK_PAUSE_FIRST: Duration = Duration::from_secs(1);

/// The rounds of a stored password: what OWASP names for PBKDF2 with SHA-512.
const PASSWORD_ROUNDS: NonZeroU32 = NonZeroU32::new(210_000).expect("it is not zero");

/// The models that front ends and jobs share.
#[derive(Clone)]
pub(crate) struct Models {
    pub(crate) entities: Entities,
    pub(crate) repositories: Repositories,
    pub(crate) graphs: Graphs,
    pub(crate) configs: Configs,
    /// Who may ask.
    pub(crate) users: Users,
    pub(crate) algorithms: AlgorithmJobs,
    /// Where long walks over graphs go on.
    pub(crate) lane: Lane,
}

impl Models {
    /// Models whose long work takes `lane`; where so many threads serve.
    pub(crate) fn new(
        settings: &Settings,
        store: &Store,
        (lane, threads): (&Lane, usize),
        clock: &Clock,
    ) -> Self {
        let graphs = Graphs::new(store.clone(), graph_options(settings));
        let algorithms =
            AlgorithmJobs::new(graphs.clone(), clock.clone(), algorithm_options(settings, threads));
        let users = Users::new(graphs.clone(), clock.clone(), access_options(settings));
        Self {
            users,
            entities: Entities::new(store.clone(), entity_options(settings)).in_lane(lane.clone()),
            repositories: Repositories::new(store.clone(), series_options(settings)),
            graphs,
            configs: Configs::new(store.clone(), clock.clone(), config_options(settings, threads)),
            algorithms,
            lane: lane.clone(),
        }
    }
}

/// Checks settings part by part, and whether they fit together.
///
/// # Errors
///
/// What does not fit, and how to mend it.
pub(crate) fn check(settings: &Settings) -> anyhow::Result<()> {
    settings.check()?;
    memory_budget(settings).map(drop)
}

/// Memory for bodies and answers.
///
/// # Errors
///
/// If the largest body would not fit in.
pub(crate) fn memory_budget(settings: &Settings) -> anyhow::Result<MemoryBudget> {
    let points_bytes_max = tsm_limits(settings, 1).write_bytes_max();
    let body_bytes_max = settings.http.body_bytes_max.as_usize().saturating_mul(api_http::BODY_BYTES_HELD);
    let request_bytes_max = points_bytes_max.max(body_bytes_max);
    let bytes_max = settings.load.memory_bytes_max.as_usize();
    anyhow::ensure!(
        bytes_max >= request_bytes_max,
        "memory_bytes_max must be at least {}MiB, for one body of body_bytes_max, or of write_points_max, \
         request_series_max, write_item_bytes_max and write_batch_bytes_max",
        request_bytes_max.div_ceil(1 << 20)
    );
    Ok(MemoryBudget::new(bytes_max, request_bytes_max, settings.load.memory_wait_duration_max.0))
}

/// All front ends over models, in the order of their standards. `threads` serve.
///
/// # Errors
///
/// If the folder of contexts is broken.
pub(crate) fn front_ends(
    settings: &Settings,
    models: &Models,
    clock: &Clock,
    threads: usize,
) -> anyhow::Result<Vec<FrontEnd>> {
    let users = models.users.clone();
    let mut front_ends = vec![ngsi_ld(settings, &models.entities, clock)?];
    if settings.tsm.served == Switch::On {
        let limits = tsm_limits(settings, threads);
        let api = api_tsm::Api::new(models.repositories.clone(), clock.clone(), limits);
        front_ends.extend(api_tsm::front_ends(&api));
    }
    if settings.cps.served == Switch::On {
        let api = api_cps::Api::new(models.configs.clone(), cps_limits(settings));
        front_ends.extend(api_cps::front_ends(&api));
    }
    if settings.restconf.served == Switch::On {
        let (limits, default) = (restconf_limits(settings), default_anchor(settings));
        let api = api_restconf::Api::new(models.configs.clone(), limits, default);
        front_ends.extend(api_restconf::front_ends(&api));
    }
    if users.is_on() {
        front_ends.iter_mut().for_each(|front_end| guard(front_end, &users));
    }
    if settings.hugegraph.served == Switch::On {
        let limits = hugegraph_limits(settings);
        let api = api_hugegraph::Api::new(
            (models.graphs.clone(), users),
            clock.clone(),
            limits,
            models.algorithms.clone(),
            models.lane.clone(),
        );
        front_ends.extend(api_hugegraph::front_ends(&api));
    }
    Ok(front_ends)
}

/// The APIs that are served, for whoever comes to `/`.
pub(crate) fn apis(settings: &Settings) -> Vec<Served> {
    let mut apis = vec![("NGSI-LD", "/ngsi-ld/v1", "/ngsi-ld/v1/docs")];
    if settings.tsm.served == Switch::On {
        apis.push(("TSM", "/tsm/v1", "/tsm/v1/docs"));
    }
    if settings.hugegraph.served == Switch::On {
        apis.push(("HugeGraph", "/graphspaces", "/hugegraph/docs"));
    }
    if settings.cps.served == Switch::On {
        apis.push(("CPS", "/cps/api", "/cps/docs"));
    }
    if settings.restconf.served == Switch::On {
        apis.push(("RESTCONF", "/restconf", "/restconf/docs"));
    }
    apis
}

/// Has a front end that knows no permissions serve administrators only.
fn guard(front_end: &mut FrontEnd, users: &Users) {
    let guard = api_hugegraph::administrators_only(users);
    for route in &mut front_end.routes {
        route.handler = route.handler.clone().guarded(guard.clone());
    }
}

fn access_options(settings: &Settings) -> AccessOptions {
    AccessOptions {
        is_on: settings.auth.enabled == Switch::On,
        admin_password: settings.auth.admin_password.as_ref().map(|password| password.0.clone()),
        token_duration: settings.auth.token_duration.0,
        password_rounds: PASSWORD_ROUNDS,
        random: |bytes| SystemRandom::new().fill(bytes).expect("the system has random bytes"),
    }
}

fn hugegraph_limits(settings: &Settings) -> api_hugegraph::Limits {
    api_hugegraph::Limits {
        depth_max: settings.http.depth_max,
        batch_elements_max: settings.hugegraph.batch_elements_max,
        walk_memory_bytes_max: settings.hugegraph.walk_memory_bytes_max.as_usize(),
    }
}

fn algorithm_options(settings: &Settings, threads: usize) -> AlgorithmOptions {
    AlgorithmOptions {
        memory_bytes_max: settings.hugegraph.algorithm_memory_bytes_max.as_usize(),
        // An algorithm works for minutes: it leaves the other half to requests.
        threads: NonZeroUsize::new(settings.load.threads(threads) / 2).unwrap_or(NonZeroUsize::MIN),
    }
}

fn graph_options(settings: &Settings) -> GraphOptions {
    GraphOptions {
        tenants_max: settings.entities.tenants_max,
        graphs_max: settings.hugegraph.graphs_max,
        buckets: settings.general.buckets,
    }
}

fn config_options(settings: &Settings, threads: usize) -> ConfigOptions {
    let config = &settings.config;
    ConfigOptions {
        tenants_max: settings.entities.tenants_max,
        dataspaces_max: config.dataspaces_max,
        schema_sets_max: config.schema_sets_max,
        schema_set_bytes_max: config.schema_set_bytes_max.as_usize(),
        tree_bytes_max: config.tree_bytes_max.as_usize(),
        strict_tree_bytes_max: config.strict_tree_bytes_max.as_usize(),
        versions_max: config.versions_max,
        version_age_max: config.version_age_max.0,
        page_cache_bytes: config.page_cache_bytes.as_usize(),
        schema_cache_bytes: config.schema_cache_bytes.as_usize(),
        lane_slots: settings.load.threads(threads),
        buckets: settings.general.buckets,
    }
}

fn cps_limits(settings: &Settings) -> api_cps::Limits {
    api_cps::Limits {
        depth_max: settings.http.depth_max,
        body_nodes_max: settings.cps.body_nodes_max,
        upload_bytes_max: settings.cps.upload_bytes_max.as_usize(),
        unpacked_bytes_max: settings.config.schema_set_bytes_max.as_usize(),
        query_nodes_max: settings.cps.query_nodes_max,
        query_anchors_max: settings.cps.query_anchors_max,
        stall_max: settings.http.stall_duration_max.0,
    }
}

fn restconf_limits(settings: &Settings) -> api_restconf::Limits {
    api_restconf::Limits {
        depth_max: settings.http.depth_max,
        body_nodes_max: settings.restconf.body_nodes_max,
        stall_max: settings.http.stall_duration_max.0,
    }
}

/// The anchor whose data `/restconf/data` is.
fn default_anchor(settings: &Settings) -> Option<api_restconf::DefaultAnchor> {
    let (dataspace, anchor) = settings.restconf.dataspace.clone().zip(settings.restconf.anchor.clone())?;
    Some(api_restconf::DefaultAnchor { dataspace, anchor })
}

fn tsm_limits(settings: &Settings, threads: usize) -> api_tsm::Limits {
    api_tsm::Limits {
        page_default: settings.http.page_rows_default,
        page_max: settings.http.page_rows_max,
        request_series_max: settings.tsm.request_series_max,
        answer_slots_max: settings.tsm.answer_slots_max,
        write_points_max: settings.tsm.write_points_max,
        depth_max: settings.http.depth_max,
        item_bytes_max: settings.tsm.write_item_bytes_max.as_usize(),
        batch_bytes_max: settings.tsm.write_batch_bytes_max.as_usize(),
        stall_max: settings.http.stall_duration_max.0,
        read_tasks: threads,
    }
}

fn series_options(settings: &Settings) -> SeriesOptions {
    SeriesOptions {
        strands: StrandOptions {
            block_points_max: settings.series.block_points_max,
            overlays_max: settings.series.overlays_max,
            overlay_points_max: settings.series.overlay_points_max,
        },
        tenants_max: settings.entities.tenants_max,
        repositories_max: settings.tsm.repositories_max,
        catalogue_buckets: settings.general.buckets,
        definitions_cached_max: settings.series.definitions_cached_max,
    }
}

/// What notifies hooks; `None`: they are not called.
///
/// # Errors
///
/// If there can be no client for HTTP.
pub(crate) fn notifier(settings: &Settings) -> anyhow::Result<Option<Notifier>> {
    if settings.hooks.send == HookSend::Off {
        return Ok(None);
    }
    Notifier::new(hooks_policy(settings)).map(Some)
}

fn hooks_policy(settings: &Settings) -> HooksPolicy {
    let hooks = &settings.hooks;
    let longest = hooks.pause_max.0;
    HooksPolicy {
        private_addresses: hooks.send == HookSend::Any,
        duration_max: hooks.duration_max.0,
        back_off: BackOff { first: HOOK_PAUSE_FIRST.min(longest), longest },
        changes_max: hooks.changes_max,
        sends_max: hooks.sends_max,
        window_changes_max: hooks.changes_max.saturating_mul(hooks.window_notifications_max),
        patience: hooks.patience_duration_max.0,
        memory_bytes_max: hooks.memory_bytes_max.as_usize(),
        outbox_changes_max: hooks.outbox_changes_max as u64,
        outbox_bytes_max: hooks.outbox_bytes_max.0,
    }
}

fn ngsi_ld(settings: &Settings, entities: &Entities, clock: &Clock) -> anyhow::Result<FrontEnd> {
    let contexts = Contexts::new(context_options(settings))
        .context("contexts cannot be loaded")
        .map_err(|error| crate::settings::WrongSetting(format!("{error:#}")))?;
    let contexts = contexts.hosting(entities.clone(), clock.clone());
    let limits = api_ngsi_ld::Limits {
        page_default: settings.http.page_rows_default,
        page_max: settings.http.page_rows_max,
        batch_entities_max: settings.ngsi_ld.batch_entities_max,
        depth_max: settings.http.depth_max,
        join_level_max: settings.ngsi_ld.join_level_max,
        join_entities_max: settings.ngsi_ld.join_entities_max,
        temporal_instances_max: settings.ngsi_ld.temporal_instances_max,
        q_nodes_max: settings.ngsi_ld.q_nodes_max,
        q_values_max: settings.ngsi_ld.q_values_max,
        geo_positions_max: settings.ngsi_ld.geo_positions_max,
        page_bytes_max: settings.ngsi_ld.page_bytes_max.as_usize(),
    };
    let api = Api::new(entities.clone(), contexts, clock.clone(), limits, settings.ngsi_ld.alias.clone());
    Ok(api_ngsi_ld::front_end(&api))
}

fn context_options(settings: &Settings) -> ContextOptions {
    ContextOptions {
        folder: settings.contexts.folder.clone(),
        fetch: FetchPolicy {
            allowed: settings.contexts.fetch != ContextFetch::Off,
            timeout: settings.contexts.duration_max.0,
            bytes_max: settings.contexts.bytes_max.as_usize(),
            redirects_max: settings.contexts.redirects_max,
            private_addresses: settings.contexts.fetch == ContextFetch::Any,
        },
        cache_entries: settings.contexts.cached_max,
    }
}

/// How entities are stored.
fn entity_options(settings: &Settings) -> Options {
    Options {
        buckets: settings.general.buckets,
        tenants_max: settings.entities.tenants_max,
        terms_max: settings.entities.terms_max,
        index: match settings.entities.attribute_indexes {
            AttributeIndexes::ByUse => IndexPolicy::ByUse,
            AttributeIndexes::All => IndexPolicy::All,
        },
        entity_bytes_max: settings.entities.entity_bytes_max.as_usize(),
        scan_entities_max: settings.entities.scan_entities_max,
        sort_entities_max: settings.entities.sort_entities_max,
        history: settings.history.policy(),
    }
}
