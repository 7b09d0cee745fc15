//! Which front ends there are, and what of the settings each model and front end is given.

use anyhow::Context as _;
use api_http::FrontEnd;
use api_ngsi_ld::{Api, ContextOptions, Contexts, FetchPolicy};
use model_entities::{Documents, Entities, Options, Tenant};
use store::{Clock, Store};

use crate::settings::{ContextFetch, Settings};

/// All front ends over models, in the order of their standards.
///
/// # Errors
///
/// If the folder of contexts is broken.
pub(crate) fn front_ends(
    settings: &Settings,
    store: &Store,
    entities: &Entities,
    clock: &Clock,
) -> anyhow::Result<Vec<FrontEnd>> {
    Ok(vec![ngsi_ld(settings, store, entities, clock)?])
}

fn ngsi_ld(
    settings: &Settings,
    store: &Store,
    entities: &Entities,
    clock: &Clock,
) -> anyhow::Result<FrontEnd> {
    let documents = Documents::new(store.clone(), Tenant::default());
    let contexts = Contexts::new(context_options(settings))
        .context("contexts cannot be loaded")
        .map_err(|error| crate::cli::WrongSetting(format!("{error:#}")))?;
    let contexts = contexts.hosting(documents, clock.clone());
    let limits = &settings.limits;
    let limits = api_ngsi_ld::Limits {
        page_default: limits.page_rows_default,
        page_max: limits.page_rows_max,
        batch_entities_max: limits.batch_entities_max,
        depth_max: limits.depth_max,
        join_level_max: limits.join_level_max,
        join_entities_max: limits.join_entities_max,
        q_nodes_max: limits.q_nodes_max,
    };
    let api = Api::new(entities.clone(), contexts, clock.clone(), limits, settings.alias.clone());
    Ok(api_ngsi_ld::front_end(&api))
}

fn context_options(settings: &Settings) -> ContextOptions {
    ContextOptions {
        folder: settings.contexts.clone(),
        fetch: FetchPolicy {
            allowed: settings.context_fetch != ContextFetch::Off,
            timeout: settings.context_duration_max.0,
            bytes_max: settings.context_bytes_max.as_usize(),
            redirects_max: settings.context_redirects_max,
            private_addresses: settings.context_fetch == ContextFetch::Any,
        },
        cache_entries: settings.contexts_cached_max,
    }
}

/// How entities are kept.
pub(crate) fn entity_options(settings: &Settings) -> Options {
    let limits = &settings.limits;
    Options {
        buckets: settings.buckets,
        terms_max: limits.terms_max,
        entity_bytes_max: limits.entity_bytes_max.as_usize(),
        scan_entities_max: limits.scan_entities_max,
        sort_entities_max: limits.sort_entities_max,
    }
}
