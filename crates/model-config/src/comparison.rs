//! What two versions of an anchor differ in.

use config::{DiffFault, Difference, Label, Walked, diff};
use store::{Deadline, LimitExceeded, Pace};

use crate::Error;
use crate::anchor::Anchor;
use crate::changes::Action;
use crate::reading::Reading;
use crate::version::VersionId;

/// Entries and pages that are looked at before it is asked whether to rest.
const WALK_STEPS: usize = 32;
/// The steps that these count as, whether or not a difference is found by then.
const STEPS: usize = 64;

/// A place at which two versions differ.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VersionDifference {
    /// What became of it from the one to the other. Of what was put elsewhere among its siblings [`Action::Replace`], too.
    pub action: Action,
    /// The path of the container or list entry: in the newer version, or in the older one if it was removed.
    pub path: String,
}

impl Anchor {
    /// At which containers and list entries two versions differ, at most so many; of what was added or removed with all below the
    /// topmost one. Cost: what was changed between them, for pages that both share are passed over. Others run meanwhile, and few pages
    /// are held at once.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownAnchor`], [`Error::UnknownVersion`], [`Error::Limit`], [`Error::TimedOut`]; as [`Reading::run`].
    pub async fn diff(
        &self,
        (from, to): (VersionId, VersionId),
        differences_max: usize,
        deadline: Deadline,
    ) -> Result<Vec<VersionDifference>, Error> {
        let (old, new) = (self.read(Some(from)).await?, self.read(Some(to)).await?);
        let (mut found, mut pace) = (Vec::new(), Pace::new(deadline));
        let mut differences = diff(old.tree(), new.tree(), &Label::top());
        loop {
            match differences.walk(WALK_STEPS) {
                Ok(Walked::End) => return Ok(found),
                Ok(Walked::More) => {}
                Ok(Walked::Found(difference)) => {
                    check_count(found.len(), differences_max)?;
                    found.push(named((&old, &new), difference).await?);
                }
                Err(DiffFault::Old(fault)) => old.load(&fault).await?,
                Err(DiffFault::New(fault)) => new.load(&fault).await?,
            }
            if !pace.spend(STEPS) || pace.is_tired() {
                old.let_go();
                new.rest(&mut pace).await?;
            }
        }
    }
}

/// Refuses one difference more than may be.
fn check_count(found: usize, differences_max: usize) -> Result<(), Error> {
    if found < differences_max {
        return Ok(());
    }
    let (max, got) = (differences_max as u64, (differences_max as u64).saturating_add(1));
    let limit = LimitExceeded { name: "differences_max", max, got };
    Err(Error::Limit { what: "differences of two versions".into(), limit })
}

/// The difference with the path of its entry.
async fn named((old, new): (&Reading, &Reading), difference: Difference) -> Result<VersionDifference, Error> {
    let (action, reading, label) = match difference {
        Difference::Added(label) => (Action::Create, new, label),
        Difference::Removed(label) => (Action::Remove, old, label),
        Difference::Changed { new: label, .. } | Difference::Moved { new: label, .. } => {
            (Action::Replace, new, label)
        }
    };
    let path = reading.run(|tree| tree.path(&label)).await?;
    Ok(VersionDifference { action, path })
}
