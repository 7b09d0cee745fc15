//! Query parameters, each declared once.

use api_http::{Parameter, ParameterValue};

/// `cypher`
pub(crate) const CYPHER: Parameter = Parameter::new("cypher", ParameterValue::Text, "A query in Cypher.");
