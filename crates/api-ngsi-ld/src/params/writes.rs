//! The parameters of writes, and those that are `true` or `false`.

use api_http::{Parameter, Request};
use lang_ngsi_ld::{Representation, check_uri, is_language_tag, time};
use model_entities::{Instances, MergeOptions};

use super::declared::{DATASET_ID, DELETE_ALL, MERGE_LANG, MERGE_OBSERVED_AT};
use super::given::Given;
use crate::problem::Problem;

/// What `options` and `format` say of a write (NGSI-LD 6.3.9 and the operations' own tables).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct WriteOptions {
    /// How the body represents attributes.
    pub(crate) representation: Representation,
    /// `noOverwrite`: attributes that there are stay.
    pub(crate) keep_existing: bool,
    /// `update`: an upsert adds to entities that there are, instead of replacing them.
    pub(crate) update: bool,
}

/// Reads them; `allowed` are the values that this operation knows beside the representations.
pub(crate) fn write_options(request: &Request, allowed: &[&str]) -> Result<WriteOptions, Problem> {
    let mut options =
        WriteOptions { representation: Representation::Normalized, keep_existing: false, update: false };
    for (name, value) in request.params.iter().filter(|(name, _)| matches!(*name, "options" | "format")) {
        for word in value.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word {
                "normalized" | "concise" => options.representation = Representation::Normalized,
                "simplified" | "keyValues" => options.representation = Representation::Simplified,
                word if name == "options" && allowed.contains(&word) => match word {
                    "noOverwrite" => options.keep_existing = true,
                    "update" => options.update = true,
                    _ => {}
                },
                word => {
                    return Err(Problem::invalid_request(format!(
                        "parameter {name}: {word:?} is not supported by this operation"
                    )));
                }
            }
        }
    }
    Ok(options)
}

/// A parameter that is `true` or `false`; `false` if it is not given.
pub(crate) fn flag(request: &Request, parameter: &Parameter) -> Result<bool, Problem> {
    Given::of(request).flag(parameter).map_err(|error| Problem::invalid_request(error.detail))
}

/// The `observedAt` and `lang` parameters of a merge (6.5.3.4, 6.31.3.1).
pub(crate) fn merge_options(request: &Request) -> Result<MergeOptions, Problem> {
    let given = Given::of(request);
    let observed_at =
        match given.get(&MERGE_OBSERVED_AT) {
            None => None,
            Some(text) => Some(time::parse_time(text).ok_or_else(|| {
                Problem::bad_request(format!("parameter observedAt: {text:?} is no DateTime"))
            })?),
        };
    let lang = given.get(&MERGE_LANG);
    if let Some(tag) = lang.filter(|tag| !is_language_tag(tag)) {
        return Err(Problem::bad_request(format!(
            "parameter lang: {tag:?} is not a language tag such as en"
        )));
    }
    Ok(MergeOptions { observed_at, lang: lang.map(Into::into) })
}

/// Which instances of an attribute a removal means: `datasetId` and `deleteAll` (6.7.3.2, 6.21.3.1).
pub(crate) fn instances(request: &Request) -> Result<Instances, Problem> {
    Ok(match (flag(request, &DELETE_ALL)?, Given::of(request).get(&DATASET_ID)) {
        (true, Some(_)) => {
            return Err(Problem::bad_request("parameters deleteAll and datasetId exclude each other"));
        }
        (true, None) => Instances::All,
        (false, None | Some("@none")) => Instances::Default,
        (false, Some(dataset)) => {
            check_uri(dataset)
                .map_err(|error| Problem::bad_request(format!("parameter datasetId: {error}")))?;
            Instances::Dataset(dataset.into())
        }
    })
}
