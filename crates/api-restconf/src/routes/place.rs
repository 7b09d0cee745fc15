//! Which anchor a request is about, and where in its data.

use api_http::Request;
use model_config::{Anchor, TenantName};

use crate::identifier::{Segment, parse_identifier};
use crate::problem::Problem;
use crate::state::Api;

/// Where RESTCONF is; the root of the anchor that the settings name.
const ROOT: &str = "/restconf";

/// In the extensions of a request: it names no anchor, so that it means the one that the settings name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfDefault;

impl Api {
    /// The anchor that the request is about. Cost: cached look-ups.
    ///
    /// # Errors
    ///
    /// 400, 404.
    pub(super) async fn anchor(&self, request: &Request) -> Result<Anchor, Problem> {
        let tenant = api_http::tenant(request, TenantName::new)?;
        let (dataspace, name) = match (request.extensions.get::<OfDefault>(), &self.shared.default_anchor) {
            (None, _) => (request.capture(0), request.capture(1)),
            (Some(_), Some(default)) => (default.dataspace.as_str(), default.anchor.as_str()),
            (Some(_), None) => {
                return Err(Problem::not_found(
                    "/restconf itself has no data here: either name an anchor in the path, \
                     /restconf/{dataspace}/{anchor}/data, or set \"dataspace\" and \"anchor\" in [restconf] of the settings",
                ));
            }
        };
        Ok(self.shared.configs.of(&tenant).await?.anchor(dataspace, name).await?)
    }
}

/// The path of the anchor's root, as it was sent.
pub(super) fn root_of(request: &Request) -> &str {
    if request.extensions.get::<OfDefault>().is_some() {
        return ROOT;
    }
    // `/restconf/{dataspace}/{anchor}`: up to the fourth slash.
    let mut slashes = request.path.match_indices('/').map(|(at, _)| at);
    slashes.nth(3).and_then(|at| request.path.get(..at)).unwrap_or(&request.path)
}

/// The steps behind `{root}/data`; none for the datastore.
///
/// # Errors
///
/// 400.
pub(super) fn segments_of(request: &Request) -> Result<Vec<Segment<'_>>, Problem> {
    let behind = request.path.get(root_of(request).len()..).unwrap_or("");
    let path = behind.strip_prefix("/data").unwrap_or("");
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() {
        return Ok(Vec::new());
    }
    parse_identifier(path).map_err(|error| Problem::invalid(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, is_default: bool, root: &str, steps: usize) {
        let mut request = Request { path: path.into(), ..Request::default() };
        if is_default {
            request.extensions.insert(OfDefault);
        }
        assert_eq!(root_of(&request), root, "{path}");
        assert_eq!(segments_of(&request).unwrap().len(), steps, "{path}");
    }

    #[test]
    fn roots_and_steps_are_taken_apart() {
        check("/restconf/a%2Fb/c/data/m:x/y=1%2F2", false, "/restconf/a%2Fb/c", 2);
        check("/restconf/a/b/data/", false, "/restconf/a/b", 0);
        check("/restconf/a/b", false, "/restconf/a/b", 0);
        check("/restconf/data/m:x/", true, "/restconf", 1);
        check("/restconf/data", true, "/restconf", 0);
    }
}
