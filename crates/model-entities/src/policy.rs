//! What is recorded of whom, and how long it is kept.

use std::time::Duration;

use entity::TermId;
use store::{Tenant, TenantName};

use crate::Terms;

/// What is recorded, and for how long; handed in by the server. By default all is recorded and kept for ever.
///
/// Rules are asked in order: the first that names the tenant, type and attribute, and says something, decides.
#[derive(Clone, Debug, Default)]
pub struct HistoryPolicy {
    /// The rules, the most special ones first.
    pub rules: Vec<HistoryRule>,
}

/// A rule; what is `None` means any.
#[derive(Clone, Debug, Default)]
pub struct HistoryRule {
    /// Whose entities.
    pub tenant: Option<TenantName>,
    /// Entities that have this type (an IRI).
    pub of_type: Option<Box<str>>,
    /// This attribute (an IRI). Such a rule says nothing of recording: a commit is recorded whole or not at all.
    pub attribute: Option<Box<str>>,
    /// Whether changes are recorded; `None`: a later rule says.
    pub record: Option<bool>,
    /// How long an instance is kept after it was written; `None`: a later rule says, `Duration::MAX`: for ever.
    pub keep: Option<Duration>,
}

impl HistoryPolicy {
    /// Nothing is recorded.
    pub fn off() -> Self {
        Self { rules: vec![HistoryRule { record: Some(false), ..HistoryRule::default() }] }
    }
}

/// The rules of one tenant, in order, up to the first that means all.
#[derive(Clone, Debug)]
pub(crate) struct TenantPolicy {
    /// Type (`None`: any) and whether to record.
    record: Vec<(Option<Box<str>>, bool)>,
    keep: Vec<KeepRule>,
}

#[derive(Clone, Debug)]
struct KeepRule {
    of_type: Option<Box<str>>,
    attribute: Option<Box<str>>,
    keep: Duration,
}

impl TenantPolicy {
    pub(crate) fn new(policy: &HistoryPolicy, tenant: &Tenant) -> Self {
        let rules = || {
            policy
                .rules
                .iter()
                .filter(|rule| rule.tenant.as_ref().is_none_or(|of| of.as_str() == tenant.name()))
        };
        let record = rules().filter(|rule| rule.attribute.is_none());
        let keep = rules().filter_map(|rule| {
            let (of_type, attribute) = (rule.of_type.clone(), rule.attribute.clone());
            Some(KeepRule { of_type, attribute, keep: rule.keep? })
        });
        Self {
            record: record.filter_map(|rule| Some((rule.of_type.clone(), rule.record?))).collect(),
            keep: keep.collect(),
        }
    }

    /// Whether changes of an entity of these types are recorded. Cost: nothing if no rule names a type.
    pub(crate) fn records(&self, terms: &Terms, types: &[TermId]) -> bool {
        let has = |iri: &str| terms.id(iri).is_some_and(|term| types.contains(&term));
        let rule = self.record.iter().find(|(of_type, _)| of_type.as_deref().is_none_or(has));
        rule.is_none_or(|(_, record)| *record)
    }

    /// Whether nothing is ever removed for its age.
    pub(crate) fn keeps_all(&self) -> bool {
        self.keep.iter().all(|rule| rule.keep == Duration::MAX)
    }

    /// How long an attribute of an entity of these types is kept; `None`: for ever.
    pub(crate) fn keep(&self, terms: &Terms, types: &[TermId], attribute: TermId) -> Option<Duration> {
        let is = |iri: &Option<Box<str>>, among: &[TermId]| {
            iri.as_ref().is_none_or(|iri| terms.id(iri).is_some_and(|term| among.contains(&term)))
        };
        let rule =
            self.keep.iter().find(|rule| is(&rule.of_type, types) && is(&rule.attribute, &[attribute]));
        rule.map(|rule| rule.keep).filter(|keep| *keep != Duration::MAX)
    }
}
