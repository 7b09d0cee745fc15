//! The register of a tenant's indexes, read and changed (`indexes.rs`).

use entity::index::Indexed;
use entity::{Error, keys};
use store::retry::RetryBackoff;
use store::{Condition, ErrorKind};

use super::TenantState;
use crate::indexes::{ALL, IndexPolicy, Register};

/// How often a change of the register starts again because another came first.
const BACKOFF: RetryBackoff = RetryBackoff::at_once(64);

impl TenantState {
    /// Which attributes are indexed. Cost: a read.
    pub(crate) async fn index_register(&self) -> Result<Register, Error> {
        Ok(self.stamped_register().await?.0)
    }

    async fn stamped_register(&self) -> Result<(Register, Condition), Error> {
        let key = keys::index_register();
        match self.store.get_linear(&keys::consumers_partition(self.tenant()), &key).await? {
            None => Ok((Register::created(self.indexes.created), Condition::Absent(key))),
            Some(row) => {
                let register = Register::parse(&row.value);
                let damaged = || store::Error::new(ErrorKind::Corrupt, "reading the register of indexes");
                Ok((register.ok_or_else(damaged)?, Condition::Version(key, row.stamp)))
            }
        }
    }

    /// Reads what is indexed, and wants what is to be.
    pub(crate) async fn learn_indexes(&self, policy: IndexPolicy) -> Result<(), Error> {
        self.indexes.set_ready(&self.index_register().await?);
        if policy == IndexPolicy::All && *self.indexes.ready() != Indexed::All {
            self.indexes.want(&[ALL]);
        }
        Ok(())
    }

    /// Changes the register, if `change` says that there is something to change; with a `barrier` all writers read it again between the
    /// version that was read and the one that is written.
    pub(crate) async fn change_register(
        &self,
        barrier: bool,
        change: impl Fn(&mut Register) -> bool,
    ) -> Result<Register, Error> {
        let partition = keys::consumers_partition(self.tenant());
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let (mut register, unchanged) = self.stamped_register().await?;
            if !change(&mut register) {
                return Ok(register);
            }
            if barrier {
                self.raise_fences().await?;
            }
            let commit = self.silent(&partition, vec![unchanged], vec![register.put()], false);
            if self.commit_silently(commit).await?.is_some() {
                return Ok(register);
            }
        }
        Err(attempts.exhausted("register of indexes").into())
    }

    /// Has all writers know of what is entered, and answers the register in which nothing is only entered. Cost: a read; if
    /// something is, a bump of all fences.
    pub(crate) async fn begin_indexes(&self) -> Result<Register, Error> {
        self.change_register(true, Register::begin).await
    }
}
