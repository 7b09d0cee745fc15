//! A resource: things of one type, of labels (or names) that match a pattern, with values of properties.

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Error, ResourceType};

/// What means any label, any property, any value, any graph.
pub(crate) const ANY: &str = "*";
/// The largest automaton of one pattern.
const PATTERN_BYTES_MAX: usize = 64 * 1024;
/// The longest pattern.
const LABEL_BYTES_MAX: usize = 256;

/// A resource as it was sent.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Resource {
    /// Of which type.
    #[serde(rename = "type")]
    pub kind: ResourceType,
    /// The pattern of its label: `*`, or a regular expression of the whole label.
    pub label: String,
    /// Values that its properties must have; none: any.
    pub properties: Option<Map<String, Value>>,
}

impl Resource {
    /// Anything of a type.
    pub fn any(kind: ResourceType) -> Self {
        Self { kind, label: ANY.to_owned(), properties: None }
    }

    /// Whether its properties matter.
    pub fn has_conditions(&self) -> bool {
        self.properties.iter().flatten().any(|(name, value)| name != ANY || value.as_str() != Some(ANY))
    }
}

/// A resource, ready to be matched.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) resource: Resource,
    label: Option<Regex>,
}

impl Rule {
    /// Prepares a resource.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if its label is no pattern.
    pub(crate) fn new(resource: Resource) -> Result<Self, Error> {
        let label = (resource.label != ANY).then(|| pattern(&resource.label)).transpose()?;
        Ok(Self { resource, label })
    }

    /// Whether it holds of all labels.
    pub(crate) fn is_of_all_labels(&self) -> bool {
        self.label.is_none()
    }

    /// Whether it holds of a label, or a name.
    pub(crate) fn has_label(&self, label: &str) -> bool {
        self.label.as_ref().is_none_or(|pattern| pattern.is_match(label))
    }

    /// Whether all that the other grants is granted by this one.
    pub(crate) fn contains(&self, other: &Resource) -> bool {
        let properties = || {
            let mine = self.resource.properties.as_ref().filter(|_| self.resource.has_conditions());
            // Each of mine must be demanded there, too.
            mine.is_none_or(|mine| {
                let theirs = other.properties.as_ref();
                mine.iter().all(|(name, value)| theirs.and_then(|theirs| theirs.get(name)) == Some(value))
            })
        };
        self.resource.kind.covers(other.kind)
            && (self.is_of_all_labels() || self.resource.label == other.label || self.names(other))
            && properties()
    }

    /// Whether the label of the other is one name, which this one matches.
    fn names(&self, other: &Resource) -> bool {
        let is_name = other.label.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        is_name && self.has_label(&other.label)
    }
}

/// A regular expression that a whole label must match.
fn pattern(label: &str) -> Result<Regex, Error> {
    let wrong = |why: &str| Error::Invalid(format!("Invalid format of resources: label '{label}' {why}"));
    if label.len() > LABEL_BYTES_MAX {
        return Err(Error::Invalid(format!(
            "Invalid format of resources: a label is longer than {LABEL_BYTES_MAX} bytes"
        )));
    }
    // Alone first: an expression that closes the group around it is none.
    let built = RegexBuilder::new(label).size_limit(PATTERN_BYTES_MAX).build();
    built.map_err(|_| wrong("is no regular expression, or too large a one"))?;
    let whole = RegexBuilder::new(&format!("^(?:{label})$")).size_limit(PATTERN_BYTES_MAX).build();
    whole.map_err(|_| wrong("is no regular expression, or too large a one"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(kind: ResourceType, label: &str) -> Rule {
        Rule::new(Resource { label: label.to_owned(), ..Resource::any(kind) }).unwrap()
    }

    #[test]
    fn labels_match_as_a_whole() {
        let check = |pattern: &str, label: &str, expected: bool| {
            assert_eq!(rule(ResourceType::Vertex, pattern).has_label(label), expected, "{pattern} {label}");
        };
        check("*", "person", true);
        check("person", "person", true);
        check("person", "persons", false);
        check("pers.*", "person", true);
        check("a|b", "b", true);
        check("a|b", "ab", false);
        for wrong in ["(", "a)(b", "*a", "(?:a{1000}){1000}"] {
            let resource = Resource { label: wrong.to_owned(), ..Resource::any(ResourceType::Edge) };
            assert!(matches!(Rule::new(resource), Err(Error::Invalid(_))), "{wrong}");
        }
    }

    #[test]
    fn grants_contain_smaller_ones() {
        let all = rule(ResourceType::All, "*");
        let person = rule(ResourceType::Vertex, "person");
        let some = rule(ResourceType::Vertex, "p.*");
        assert!(all.contains(&person.resource));
        assert!(some.contains(&person.resource));
        assert!(some.contains(&some.resource));
        assert!(!person.contains(&some.resource));
        assert!(!person.contains(&all.resource));
        // A pattern that some pattern matches as a text may hold of more.
        assert!(!some.contains(&Resource { label: "p|x".into(), ..Resource::any(ResourceType::Vertex) }));
        let mut narrow = person.resource.clone();
        narrow.properties = serde_json::from_str(r#"{"city":"Beijing"}"#).unwrap();
        assert!(person.contains(&narrow));
        assert!(!Rule::new(narrow).unwrap().contains(&person.resource));
        let mut any = person.resource.clone();
        any.properties = serde_json::from_str(r#"{"*":"*"}"#).unwrap();
        assert!(Rule::new(any).unwrap().contains(&person.resource));
    }
}
