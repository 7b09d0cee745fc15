//! Settings of the history of entities: what is recorded, and for how long.

use std::str::FromStr;
use std::time::Duration;

use model_entities::{HistoryPolicy, HistoryRule, TenantName};

use super::table::{Field, Table, above_zero, settings_table};
use crate::units::{Span, Switch};

settings_table! {
    /// What is recorded of entities.
    pub(crate) struct History, table "history", flags "history_", heading "History" {
        /// Whether changes of entities are recorded, where no rule says otherwise
        record as "history": Switch = "on", "WHETHER";

        /// Rules by tenant, type and attribute, the first that fits decides: `type=IRI,keep=30d tenant=lab,record=off`
        rules: HistoryRules = "", "RULES";

        /// How often fresh history is looked through for what is old enough to be folded into blocks, or to be removed
        sweep_interval: Span = "10m", "SPAN";

        /// The age from which fresh history of an entity that seldom changes is folded into blocks
        fresh_duration: Span = "24h", "SPAN";
    }
}

/// Rules as a setting spells them: separated by blanks; members of a rule by commas.
#[derive(Clone, Debug)]
pub(crate) struct HistoryRules(Vec<HistoryRule>);

impl History {
    /// What the model is to record, and for how long.
    pub(crate) fn policy(&self) -> HistoryPolicy {
        let mut rules = self.rules.0.clone();
        if self.record == Switch::Off {
            rules.extend(HistoryPolicy::off().rules);
        }
        HistoryPolicy { rules }
    }

    /// Checks the values, and that they fit together.
    ///
    /// # Errors
    ///
    /// What does not fit, and how to mend it.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        above_zero(&[("history_sweep_interval", self.sweep_interval)])
    }
}

impl FromStr for HistoryRules {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split_whitespace().map(rule).collect::<Result<_, _>>().map(Self)
    }
}

/// `tenant=lab,type=IRI,attribute=IRI,record=off,keep=30d`; a `,` that no known name follows belongs to an IRI.
fn rule(text: &str) -> Result<HistoryRule, String> {
    const NAMES: [&str; 5] = ["tenant=", "type=", "attribute=", "record=", "keep="];
    let mut members: Vec<String> = Vec::new();
    for part in text.split(',') {
        match members.last_mut() {
            Some(last) if !NAMES.iter().any(|name| part.starts_with(name)) => {
                last.push(',');
                last.push_str(part);
            }
            _ => members.push(part.to_owned()),
        }
    }
    let mut rule = HistoryRule::default();
    for member in &members {
        let (name, value) = member.split_once('=').ok_or_else(|| {
            format!("{member:?}: a rule is made of tenant=, type=, attribute=, record= and keep=, separated by commas")
        })?;
        match name {
            "tenant" => rule.tenant = Some(TenantName::new(value).map_err(|error| error.to_string())?),
            "type" => rule.of_type = Some(iri(member, value)?),
            "attribute" => rule.attribute = Some(iri(member, value)?),
            "record" => rule.record = Some(recorded(value)?),
            "keep" if value == "forever" => rule.keep = Some(Duration::MAX),
            "keep" => rule.keep = Some(value.parse::<Span>()?.0),
            _ => return Err(format!("{name:?}: a rule has tenant, type, attribute, record and keep")),
        }
    }
    match (&rule.record, &rule.keep, &rule.attribute) {
        (None, None, _) => Err(format!("{text:?}: a rule says record=on, record=off, or keep=SPAN")),
        (Some(_), _, Some(_)) => Err(format!(
            "{text:?}: record is of whole entities: a rule with an attribute can only say keep=SPAN"
        )),
        _ => Ok(rule),
    }
}

/// Types and attributes are stored as IRIs: a short name would fit nothing.
fn iri(member: &str, value: &str) -> Result<Box<str>, String> {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    match value.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) && !rest.is_empty() => Ok(value.into()),
        _ => Err(format!(
            "{member:?}: types and attributes are named by IRIs here, like https://example.org/Sensor; a name that no \
             @context defines is https://uri.etsi.org/ngsi-ld/default-context/ and the name"
        )),
    }
}

fn recorded(value: &str) -> Result<bool, String> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("record={value}: either on or off")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_refused(text: &str, word: &str) {
        let error = text.parse::<HistoryRules>().unwrap_err();
        assert!(error.contains(word), "{word:?} is not in {error:?}");
    }

    #[test]
    fn rules_are_read_in_order() {
        let text =
            "type=https://a.org/T,b,keep=30d tenant=lab,record=off attribute=https://a.org/p,keep=forever";
        let HistoryRules(rules) = text.parse().unwrap();
        let [typed, lab, attribute] = &rules[..] else { panic!("{rules:?}") };
        assert_eq!(typed.of_type.as_deref(), Some("https://a.org/T,b"));
        assert_eq!(typed.keep, Some(Duration::from_secs(30 * 86_400)));
        assert_eq!((lab.tenant.as_ref().map(TenantName::as_str), lab.record), (Some("lab"), Some(false)));
        assert_eq!(
            (attribute.attribute.as_deref(), attribute.keep),
            (Some("https://a.org/p"), Some(Duration::MAX))
        );
        assert!("".parse::<HistoryRules>().unwrap().0.is_empty());
    }

    #[test]
    fn what_is_no_rule_is_refused_with_its_reason() {
        check_refused("lab", "made of");
        check_refused("who=lab,keep=1h", "who");
        check_refused("tenant=lab", "record=on");
        check_refused("record=maybe", "either on or off");
        check_refused("keep=1", "whole number");
        check_refused("tenant=a b,keep=1h", "record=on");
        check_refused("attribute=https://a.org/p,record=off", "whole entities");
        check_refused("type=Sensor,keep=30d", "\"type=Sensor\": types and attributes are named by IRIs");
        check_refused("attribute=:,keep=30d", "default-context/");
    }
}
