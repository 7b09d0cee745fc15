//! Composite queries as bodies have them: `{"cpsPath","operator","conditions":[…]}`, nested.

use lang_cps_path::{CompositeError, CompositeQuery};
use lang_json::{Error, Reader};

use crate::problem::Problem;

/// A composite query.
///
/// # Errors
///
/// 400.
pub(crate) fn read_composite(body: &[u8], depth_max: usize) -> Result<CompositeQuery, Problem> {
    let text = std::str::from_utf8(body).map_err(|_| Problem::invalid_data("the body is no UTF-8"))?;
    let mut reader = Reader::new(text, depth_max);
    let query = read(&mut reader)?;
    reader.end().map_err(unreadable)?;
    Ok(query)
}

fn read(reader: &mut Reader<'_>) -> Result<CompositeQuery, Problem> {
    let (mut path, mut operator, mut conditions) = (None, None, Vec::new());
    reader.begin_object().map_err(unreadable)?;
    while let Some(name) = reader.next_key().map_err(unreadable)? {
        match &*name {
            "cpsPath" => path = Some(reader.string().map_err(unreadable)?.into_owned()),
            "operator" => operator = Some(reader.string().map_err(unreadable)?.into_owned()),
            "conditions" => {
                reader.begin_array().map_err(unreadable)?;
                while reader.next_element().map_err(unreadable)? {
                    conditions.push(read(reader)?);
                }
            }
            other => {
                let known = "cpsPath, operator, conditions";
                return Err(Problem::invalid_data(format!("a composite query has {known}, not {other:?}")));
            }
        }
    }
    Ok(CompositeQuery::new(path.as_deref().unwrap_or(""), operator.as_deref(), conditions)?)
}

#[expect(clippy::needless_pass_by_value, reason = "the argument of map_err")]
fn unreadable(error: Error) -> Problem {
    Problem::invalid_data(format!("the body cannot be read: {error}"))
}

/// Words why a composite query is refused.
impl From<CompositeError> for Problem {
    fn from(error: CompositeError) -> Self {
        match error {
            CompositeError::Path(error) => Self::bad_path(error.detail()),
            CompositeError::TooDeep | CompositeError::TooMany => Self::too_large(error.to_string()),
            CompositeError::MissingPath | CompositeError::Operator(_) => Self::validation(error.to_string()),
        }
    }
}
