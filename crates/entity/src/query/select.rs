//! Selecting entities by id, type and scope.

use super::{ScopeQuery, Selector, TypeQuery};
use crate::{EntityView, TermId};

impl Selector {
    /// The same, ready for [`Selector::selects`].
    pub fn ready(mut self) -> Self {
        self.ids.sort_unstable();
        self
    }

    /// Whether an entity is selected. The ids must be sorted.
    pub fn selects(&self, entity: &EntityView<'_>) -> bool {
        if self.ids.is_empty() && self.id_pattern.is_none() {
            return self.types.as_ref().is_none_or(|types| types.selects(entity.types()));
        }
        let id = entity.id();
        (self.ids.is_empty() || self.ids.binary_search_by(|wanted| (**wanted).cmp(id)).is_ok())
            && self.types.as_ref().is_none_or(|types| types.selects(entity.types()))
            && self.id_pattern.as_ref().is_none_or(|pattern| pattern.is_match(id))
    }
}

impl TypeQuery {
    /// Whether an entity of these types is selected. Cost: a look at each type for each name in the selection.
    pub fn selects(&self, mut types: impl Iterator<Item = TermId>) -> bool {
        match self {
            // The common case needs no list.
            Self::Is(Some(wanted)) => types.any(|found| found == *wanted),
            _ => {
                let types: smallvec::SmallVec<[TermId; 8]> = types.collect();
                self.selects_all(&types)
            }
        }
    }

    fn selects_all(&self, types: &[TermId]) -> bool {
        match self {
            Self::Is(wanted) => wanted.is_some_and(|wanted| types.contains(&wanted)),
            Self::Any(parts) => parts.iter().any(|part| part.selects_all(types)),
            Self::All(parts) => parts.iter().all(|part| part.selects_all(types)),
        }
    }
}

impl ScopeQuery {
    /// Whether an entity of these scopes is selected.
    pub fn selects<'a>(&self, scopes: impl Iterator<Item = &'a str> + Clone) -> bool {
        match self {
            Self::Matches(pattern) => scopes.into_iter().any(|scope| matches_scope(pattern, scope)),
            Self::Any(parts) => parts.iter().any(|part| part.selects(scopes.clone())),
            Self::All(parts) => parts.iter().all(|part| part.selects(scopes.clone())),
        }
    }
}

/// Whether a scope lies where the pattern says, level by level.
fn matches_scope(pattern: &[Box<str>], scope: &str) -> bool {
    let scope = scope.strip_prefix('/').unwrap_or(scope);
    let mut levels = scope.split('/');
    let mut pattern = pattern.iter();
    while let Some(wanted) = pattern.next() {
        if &**wanted == "#" && pattern.len() == 0 {
            return true;
        }
        match levels.next() {
            Some(level) if &**wanted == "+" || &**wanted == level => {}
            _ => return false,
        }
    }
    levels.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_scope(pattern: &str, scopes: &[&str], expected: bool) {
        let levels = pattern.split('/').filter(|level| !level.is_empty()).map(Into::into).collect();
        let query = ScopeQuery::Matches(levels);
        assert_eq!(query.selects(scopes.iter().copied()), expected, "{pattern} {scopes:?}");
    }

    #[test]
    fn scopes_by_level() {
        check_scope("/Madrid", &["/Madrid"], true);
        check_scope("/Madrid", &["/Madrid/Gardens"], false);
        check_scope("/Madrid/Gardens", &["/Madrid"], false);
        check_scope("/Madrid/Gardens", &["/Lisbon", "/Madrid/Gardens"], true);
        check_scope("/Madrid/+", &["/Madrid/Gardens"], true);
        check_scope("/Madrid/+", &["/Madrid"], false);
        check_scope("/Madrid/+", &["/Madrid/Gardens/North"], false);
        check_scope("/+/Gardens", &["/Madrid/Gardens"], true);
        check_scope("/Madrid/#", &["/Madrid"], true);
        check_scope("/Madrid/#", &["/Madrid/Gardens/North"], true);
        check_scope("/Madrid/#", &["/Madridejos"], false);
        check_scope("/#", &["/Madrid"], true);
        check_scope("/#", &[], false);
        check_scope("/+/#", &["/Madrid"], true);
    }

    #[test]
    fn scopes_any_and_all() {
        let one = |name: &str| ScopeQuery::Matches(vec![name.into()]);
        let scopes = ["/A", "/B"];
        for (query, expected) in [
            (ScopeQuery::Any(vec![one("C"), one("B")]), true),
            (ScopeQuery::Any(vec![one("C")]), false),
            (ScopeQuery::All(vec![one("A"), one("B")]), true),
            (ScopeQuery::All(vec![one("A"), one("C")]), false),
        ] {
            assert_eq!(query.selects(scopes.iter().copied()), expected, "{query:?}");
        }
    }

    #[test]
    fn types_any_and_all() {
        let is = |number: u32| TypeQuery::Is(Some(TermId(number)));
        for (query, expected) in [
            (is(1), true),
            (is(3), false),
            (TypeQuery::Is(None), false),
            (TypeQuery::Any(vec![is(3), is(2)]), true),
            (TypeQuery::All(vec![is(1), is(2)]), true),
            (TypeQuery::All(vec![is(1), is(3)]), false),
            (TypeQuery::All(vec![is(1), TypeQuery::Any(vec![TypeQuery::Is(None), is(2)])]), true),
            (TypeQuery::Any(vec![]), false),
        ] {
            assert_eq!(query.selects([1, 2].map(TermId).into_iter()), expected, "{query:?}");
        }
    }
}
