//! Ids of vertices: in addresses as JSON, in bodies as numbers and texts.

use graph::schema::{IdStrategy, VertexLabel};
use graph::{VertexId, VertexIdRef};
use lang_json::{Reader, write_string};

use super::tokens::Token;
use crate::problem::Problem;

/// The id in an address: `"1:marko"`, `123`, `U"4a7d…"`.
///
/// # Errors
///
/// 400.
pub fn vertex_id_of_url(text: &str) -> Result<VertexId, Problem> {
    let wrong = || {
        Problem::illegal_argument(format!(
            "The vertex id must be formatted as Number/String/UUID, but got '{text}'"
        ))
    };
    let (is_uuid, json) = match text.strip_prefix('U').filter(|rest| rest.starts_with('"')) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut reader = Reader::new(json, 1);
    let token = Token::read(&mut reader).map_err(|_| wrong())?;
    reader.end().map_err(|_| wrong())?;
    match token {
        Token::Text(text) if is_uuid => uuid_of(&text).ok_or_else(wrong),
        Token::Text(text) if text.is_empty() => Err(wrong()),
        Token::Text(text) => Ok(VertexId::Text(text.into())),
        Token::Number(digits) => digits.parse().map(VertexId::Number).map_err(|_| wrong()),
        Token::Bool(_) | Token::Null | Token::Array(_) | Token::Object(_) => Err(wrong()),
    }
}

/// The id that a body gives; of a vertex of this label, if it is known: the text of a UUID is one where the label has such ids.
pub(crate) fn vertex_id_of_token(
    token: &Token<'_>,
    label: Option<&VertexLabel>,
) -> Result<VertexId, Problem> {
    let has_uuids = label.is_some_and(|label| label.id_strategy == IdStrategy::CustomizeUuid);
    match token {
        Token::Text(text) if has_uuids => {
            uuid_of(text).ok_or_else(|| Problem::illegal_argument(format!("Invalid UUID string: {text}")))
        }
        Token::Text(text) if text.is_empty() => Err(Problem::illegal_argument("The id can't be empty")),
        Token::Text(text) => Ok(VertexId::Text(text.as_ref().into())),
        Token::Number(digits) => digits.parse().map(VertexId::Number).map_err(|_| {
            Problem::illegal_argument(format!("Invalid vertex id '{digits}': a number must be a long"))
        }),
        Token::Bool(_) | Token::Null | Token::Array(_) | Token::Object(_) => {
            Err(Problem::illegal_argument("A vertex id must be a number or a string"))
        }
    }
}

/// An id in a list of ids, or where a walk begins: `"1:marko"`, `123`, `"U\"4a7d…\""`. A label does not say there what a text is.
///
/// # Errors
///
/// 400.
pub fn vertex_id_of_list(reader: &mut Reader<'_>) -> Result<VertexId, Problem> {
    match Token::read(reader)? {
        Token::Text(text) if text.starts_with("U\"") => vertex_id_of_url(&text),
        token => vertex_id_of_token(&token, None),
    }
}

fn uuid_of(text: &str) -> Option<VertexId> {
    uuid::Uuid::try_parse(text).ok().map(|uuid| VertexId::Uuid(uuid.as_u128()))
}

/// Appends an id as JSON.
#[inline]
pub fn put_vertex_id(out: &mut String, id: &VertexIdRef<'_>) {
    match id {
        VertexIdRef::Number(number) => out.push_str(itoa::Buffer::new().format(*number)),
        VertexIdRef::Text(text) => write_string(out, text),
        VertexIdRef::Uuid(uuid) => {
            out.push('"');
            let mut text = uuid::Uuid::encode_buffer();
            out.push_str(uuid::Uuid::from_u128(*uuid).hyphenated().encode_lower(&mut text));
            out.push('"');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_in_addresses_are_json() {
        let uuid = "4a7d1a2b-0000-4000-8000-000000000001";
        for (text, json) in [
            ("\"1:marko\"".to_owned(), "\"1:marko\"".to_owned()),
            ("\"a\\u00e9\\\"\"".into(), "\"aé\\\"\"".into()),
            ("123".into(), "123".into()),
            ("-5".into(), "-5".into()),
            (format!("U\"{uuid}\""), format!("\"{uuid}\"")),
        ] {
            let mut out = String::new();
            put_vertex_id(&mut out, &vertex_id_of_url(&text).unwrap().as_ref());
            assert_eq!(out, json, "{text}");
        }
        for wrong in
            ["1:marko", "\"a", "true", "[1]", "1.5", "U\"x\"", "", "\"\"", "1 2", "99999999999999999999"]
        {
            let problem = vertex_id_of_url(wrong).unwrap_err();
            assert!(problem.message.ends_with(&format!("but got '{wrong}'")), "{}", problem.message);
        }
    }
}
