//! What trees in JSON have in common, however a server spells them: how many data nodes they are, and whether two of them
//! say the same.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Map, Value as Json};

/// Characters of a tree in a message.
const SHOWN_MAX: usize = 160;

/// Data nodes (containers and list entries, leaves are none) of the members of `json`, which is an answer: an object of
/// trees, or a list of such.
pub fn nodes(json: &Json) -> u64 {
    match json {
        Json::Object(members) => members.values().map(value_nodes).sum(),
        Json::Array(items) => items.iter().map(nodes).sum(),
        _ => 0,
    }
}

fn value_nodes(json: &Json) -> u64 {
    match json {
        Json::Object(_) => 1 + nodes(json),
        Json::Array(items) => items.iter().filter(|item| item.is_object()).map(value_nodes).sum(),
        _ => 0,
    }
}

/// Like [`nodes`], of an answer over several anchors.
///
/// # Errors
///
/// If it is no such answer.
pub fn nodes_of_anchors(json: &Json) -> Result<u64> {
    let anchors = json.as_array().context("the answer is no list")?;
    let of = |anchor: &Json| anchor.get("dataNodes").map(nodes);
    anchors
        .iter()
        .map(|anchor| of(anchor).with_context(|| format!("{} has no dataNodes", shown(anchor))))
        .sum()
}

/// Every text that a member `name` has, however deep.
pub fn texts_of(json: &Json, name: &str, found: &mut BTreeSet<String>) {
    match json {
        Json::Object(members) => {
            for (member, value) in members {
                match value {
                    Json::String(text) if bare(member) == name => {
                        found.insert(text.clone());
                    }
                    value => texts_of(value, name, found),
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| texts_of(item, name, found)),
        _ => {}
    }
}

/// Whether two trees say the same: without prefixes, numbers as texts, members in any order. Entries of lists must come in
/// the same order if `ordered`.
///
/// # Errors
///
/// If they do not; the message names a difference.
pub fn same(found: &Json, expected: &Json, ordered: bool) -> Result<()> {
    let (found, expected) = (plain(found, ordered), plain(expected, ordered));
    differ(&found, &expected, "")
}

fn differ(found: &Json, expected: &Json, at: &str) -> Result<()> {
    match (found, expected) {
        (Json::Object(found), Json::Object(expected)) => {
            for (name, value) in expected {
                let there = found.get(name).with_context(|| format!("{at}/{name} is missing"))?;
                differ(there, value, &format!("{at}/{name}"))?;
            }
            let more = found.keys().find(|name| !expected.contains_key(*name));
            ensure!(more.is_none(), "{at}/{} was never written", more.map_or("", String::as_str));
            Ok(())
        }
        (Json::Array(found), Json::Array(expected)) => {
            ensure!(
                found.len() == expected.len(),
                "{at} has {} entries, not {}",
                found.len(),
                expected.len()
            );
            let mut pairs = found.iter().zip(expected).enumerate();
            pairs
                .try_for_each(|(place, (found, expected))| differ(found, expected, &format!("{at}[{place}]")))
        }
        (found, expected) => {
            ensure!(found == expected, "{at} is {}, it must be {}", shown(found), shown(expected));
            Ok(())
        }
    }
}

fn plain(json: &Json, ordered: bool) -> Json {
    match json {
        Json::Object(members) => {
            let member = |(name, value): (&String, &Json)| (bare(name).to_owned(), plain(value, ordered));
            Json::Object(members.iter().map(member).collect::<Map<_, _>>())
        }
        Json::Array(items) => {
            let mut items: Vec<Json> = items.iter().map(|item| plain(item, ordered)).collect();
            if !ordered {
                items.sort_by_cached_key(sorted);
            }
            Json::Array(items)
        }
        Json::String(text) => Json::String(number(text).to_owned()),
        other => Json::String(number(&other.to_string()).to_owned()),
    }
}

/// A text that is the same for all orders of members.
fn sorted(json: &Json) -> String {
    match json {
        Json::Object(members) => {
            let mut texts: Vec<String> =
                members.iter().map(|(name, value)| format!("{name}:{}", sorted(value))).collect();
            texts.sort();
            format!("{{{}}}", texts.join(","))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(sorted).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

/// A decimal number without the zeros at its end that mean nothing.
fn number(text: &str) -> &str {
    match text.split_once('.') {
        Some((whole, rest)) if digits(whole.trim_start_matches('-')) && digits(rest) => {
            text.trim_end_matches('0').trim_end_matches('.')
        }
        _ => text,
    }
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The name of a member without the module or prefix before it.
pub fn bare(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, name)| name)
}

/// The beginning of a tree, for messages.
pub fn shown(json: &Json) -> String {
    json.to_string().chars().take(SHOWN_MAX).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn containers_and_entries_are_nodes() {
        let tree = json!({"a:top": {"leaf": 1, "leaves": [1, 2], "list": [{"k": 1, "c": {}}, {"k": 2}]}});
        assert_eq!(nodes(&tree), 4);
        assert_eq!(nodes(&json!([{"a:list": {"k": 1}}, {"a:list": {"k": 2}}])), 2);
        assert_eq!(nodes(&json!([])), 0);
        let anchors = json!([{"anchorName": "x", "dataNodes": [tree]}, {"anchorName": "y", "dataNodes": []}]);
        assert_eq!(nodes_of_anchors(&anchors).unwrap(), 4);
        assert!(nodes_of_anchors(&json!([{"anchorName": "x"}])).is_err());
    }

    #[test]
    fn trees_are_compared_by_what_they_say() {
        let sent = json!({"m:top": {"rate": "1000", "list": [{"k": 1}, {"k": "2"}], "up": true}});
        let answered = json!({"p:top": {"up": "true", "list": [{"k": "1"}, {"k": 2}], "rate": "1000.0"}});
        same(&answered, &sent, true).unwrap();
        let turned = json!({"top": {"up": true, "list": [{"k": 2}, {"k": 1}], "rate": 1000}});
        same(&turned, &sent, false).unwrap();
        let check = |found: &Json, expected: &str| {
            let error = same(found, &sent, true).unwrap_err().to_string();
            assert_eq!(error, expected);
        };
        check(&turned, "/top/list[0]/k is \"2\", it must be \"1\"");
        check(&json!({"top": {"rate": 1000, "up": true}}), "/top/list is missing");
        check(&json!({"top": {"rate": 1000, "up": true, "list": []}}), "/top/list has 0 entries, not 2");
        let more = json!({"top": {"rate": 1000, "up": true, "list": [{"k": 1}, {"k": 2}], "x": 1}});
        check(&more, "/top/x was never written");
    }

    #[test]
    fn texts_are_found_however_deep() {
        let mut found = BTreeSet::new();
        texts_of(&json!([{"p:id": "a", "c": {"id": "b"}}, {"other": "c"}]), "id", &mut found);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a", "b"]);
    }
}
