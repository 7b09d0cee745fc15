//! Leases: which of several does a job that one is to do. They save work; they give no safety.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::incarnation::random_u64;
use crate::limits::check_lease;
use crate::{Error, ErrorKind};

/// The right to do a singleton job, until it runs out. Whoever takes one is given a random holder's number with it: nobody
/// else can renew it, not even under the same name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lease {
    name: Arc<str>,
    holder: u64,
    epoch: u64,
}

impl Lease {
    /// Grows each time that the lease is taken, and over restarts: what is said under an older one is out of date.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// What it is for.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The leases of a store that one process has, as it is open: they end with it. Times are of a clock that nobody sets.
#[derive(Debug, Default)]
pub struct Leases(HashMap<Arc<str>, Taken>);

#[derive(Debug)]
struct Taken {
    holder: u64,
    epoch: u64,
    until: Duration,
}

impl Leases {
    /// Takes a lease; `None` while somebody has it. `epoch`: the last one of earlier runs, if there was none in this.
    ///
    /// # Errors
    ///
    /// `TooLarge` for a long name, and what `epoch` answers.
    pub fn take(
        &mut self,
        name: &str,
        (now, ttl): (Duration, Duration),
        epoch: impl FnOnce() -> Result<u64, Error>,
    ) -> Result<Option<Lease>, Error> {
        check_lease(name)?;
        let before = match self.0.get(name) {
            Some(taken) if now < taken.until => return Ok(None),
            Some(taken) => taken.epoch,
            None => epoch()?,
        };
        let epoch = before.checked_add(1);
        let epoch =
            epoch.ok_or_else(|| Error::new(ErrorKind::Corrupt, "take a lease: its epochs are used up"))?;
        let lease = Lease { name: name.into(), holder: random_u64(), epoch };
        let until = now.saturating_add(ttl);
        self.0.insert(Arc::clone(&lease.name), Taken { holder: lease.holder, epoch, until });
        Ok(Some(lease))
    }

    /// Renews a lease; false if it has run out, or is somebody else's.
    pub fn renew(&mut self, lease: &Lease, (now, ttl): (Duration, Duration)) -> bool {
        let taken = self.0.get_mut(&lease.name);
        let Some(taken) = taken.filter(|taken| taken.holder == lease.holder && now < taken.until) else {
            return false;
        };
        taken.until = now.saturating_add(ttl);
        true
    }

    /// Gives back what was taken and could not be stored.
    pub fn end(&mut self, lease: &Lease) {
        if let Some(taken) = self.0.get_mut(&lease.name).filter(|taken| taken.holder == lease.holder) {
            taken.until = Duration::ZERO;
        }
    }
}
