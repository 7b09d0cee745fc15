//! The `options` and `format` parameters of writes, and other small parameters.

use api_http::Request;

use crate::problem::Problem;
use crate::wire::Representation;

/// What `options` and `format` say of a write (NGSI-LD 6.3.9 and the operations' own tables).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct WriteOptions {
    /// How the body represents attributes.
    pub(crate) representation: Representation,
    /// `noOverwrite`: held attributes stay.
    pub(crate) keep_held: bool,
    /// `update`: an upsert adds to held entities instead of replacing them.
    pub(crate) update: bool,
}

/// Reads them; `allowed` are the values that this operation knows beside the representations.
pub(crate) fn write_options(request: &Request, allowed: &[&str]) -> Result<WriteOptions, Problem> {
    let mut options =
        WriteOptions { representation: Representation::Normalized, keep_held: false, update: false };
    for (name, value) in request.params.iter().filter(|(name, _)| matches!(*name, "options" | "format")) {
        for word in value.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word {
                "normalized" | "concise" => options.representation = Representation::Normalized,
                "simplified" | "keyValues" => options.representation = Representation::Simplified,
                word if name == "options" && allowed.contains(&word) => match word {
                    "noOverwrite" => options.keep_held = true,
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
pub(crate) fn flag(request: &Request, name: &str) -> Result<bool, Problem> {
    match request.params.get(name) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(value) => {
            Err(Problem::invalid_request(format!("parameter {name} must be true or false, not {value:?}")))
        }
    }
}
