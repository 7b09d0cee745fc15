//! Names of types and attributes of one tenant: IRIs as small numbers ([`store::terms`]).

#[cfg(test)]
mod tests;

use std::sync::Arc;

use entity::{Error, Limit, LimitName, TermId};
use store::terms::TermError;
use store::{Partition, Store, WriteIds};

pub use store::terms::NAME_BYTES_MAX;

/// The names in use in one tenant; clones share.
#[derive(Clone, Debug, Default)]
pub struct Terms(store::terms::Terms);

impl Terms {
    /// The term of this IRI, if it is in use. Cost: one hash look-up.
    pub fn id(&self, iri: &str) -> Option<TermId> {
        self.0.number(iri).map(TermId)
    }

    /// The IRI of a term. Cost: one index.
    pub fn iri(&self, term: TermId) -> Option<Arc<str>> {
        self.0.name(term.0)
    }

    /// How many there are: terms are numbered from 0 without gaps.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads names that were stored since the last look (by another node, or before the start).
    pub(crate) async fn learn(&self, store: &Store, partition: &Partition) -> Result<(), Error> {
        Ok(self.0.learn(store, partition).await?)
    }

    /// The terms of these names, in order; new ones are stored before they are known here.
    /// Cost: a look-up each, if all are in use.
    pub(crate) async fn allot(
        &self,
        store: &Store,
        partition: &Partition,
        write_ids: &WriteIds,
        iris: &[&str],
        terms_max: usize,
    ) -> Result<Vec<TermId>, Error> {
        let numbers = self.0.intern((store, partition, write_ids), iris, terms_max).await.map_err(refusal)?;
        Ok(numbers.into_iter().map(TermId).collect())
    }
}

fn refusal(error: TermError) -> Error {
    let limit = |name, max| Error::Limit(Limit { name, max, got: max + 1 });
    match error {
        TermError::TooMany(max) => limit(LimitName::Names, max),
        TermError::TooLong(_) => limit(LimitName::NameBytes, NAME_BYTES_MAX),
        TermError::Exhausted(exhausted) => exhausted.into(),
        TermError::Store(error) => error.into(),
    }
}
