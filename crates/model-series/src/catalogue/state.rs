//! States of the catalogue's things, as conditional writers know them: by their stored form.

use store::{Fingerprint, StateCondition};

use super::Hook;
use super::hooks::encode::put_hook;
use crate::encode::{put_attribute_type, put_definition, put_units};
use crate::{AttributeType, Definition};
use crate::{Error, Unit};

impl Definition {
    /// Tells this state of the definition from others. Cost: that of encoding it, below a microsecond.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&put_definition(self))
    }
}

/// Tells this state of a unit from others.
pub fn unit_fingerprint(unit: &Unit) -> Fingerprint {
    Fingerprint::of(&put_units(std::iter::once(unit)))
}

impl AttributeType {
    /// Tells this state of the attribute type from others.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&put_attribute_type(self))
    }
}

impl Hook {
    /// Tells this state of the hook from others; how far it was notified does not count.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&put_hook(self))
    }
}

/// Refuses a thing that is not in a state that the writer demands; `state`: its current state, if it exists.
pub(crate) fn check_state(
    condition: &StateCondition,
    state: Option<impl FnOnce() -> Fingerprint>,
    what: &str,
    name: &str,
) -> Result<(), Error> {
    if condition.is_none() || condition.is_met_by(state.map(|state| state())) {
        return Ok(());
    }
    Err(Error::StateDiffers(format!("{what} {name}").into()))
}
