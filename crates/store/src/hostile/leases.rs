//! Leases that save work and give no safety, as on nodes that pause and whose clocks differ.

use std::time::Duration;

use super::{Hostile, PER_MILLE};
use crate::{Error, Lease};

impl Hostile {
    /// Takes a lease that is free; or, now and then, one that another holds, who may go on taking it for his.
    pub(crate) fn lease(&self, name: &str, ttl: Duration) -> Result<Option<Lease>, Error> {
        let world = &self.world;
        let mut given = world.memory.lease(name, ttl)?;
        if given.is_none() && world.roll(world.options.unleased) {
            if let Some(holder) = world.holders.lock().remove(name) {
                world.memory.renew(&holder, Duration::ZERO)?;
                if world.roll(PER_MILLE / 2) {
                    world.phantoms.lock().push(holder);
                }
            }
            given = world.memory.lease(name, ttl)?;
        }
        if let Some(lease) = &given {
            world.holders.lock().insert(name.into(), lease.clone());
        }
        Ok(given)
    }

    pub(crate) fn renew(&self, lease: &Lease, ttl: Duration) -> Result<bool, Error> {
        let world = &self.world;
        let is_lost = world.roll(world.options.unleased);
        let mut phantoms = world.phantoms.lock();
        let Some(place) = phantoms.iter().position(|phantom| phantom == lease) else {
            drop(phantoms);
            let renewed = world.memory.renew(lease, if is_lost { Duration::ZERO } else { ttl })?;
            return Ok(renewed && !is_lost);
        };
        world.memory.check_open()?;
        if is_lost || ttl.is_zero() {
            phantoms.swap_remove(place);
        }
        Ok(!is_lost)
    }
}
