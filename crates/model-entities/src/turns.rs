//! Turns of writers that met others on one entity.

use store::bucket_of;

/// A fixed number of turns, shared by hash.
const TURNS: u32 = 64;

/// Where writers queue that lost once, and those who meet them there; where nobody lost, nobody waits.
#[derive(Debug)]
pub(crate) struct Turns(Box<[tokio::sync::Mutex<()>]>);

impl Default for Turns {
    fn default() -> Self {
        Self((0..TURNS).map(|_| tokio::sync::Mutex::default()).collect())
    }
}

impl Turns {
    /// The turn of those who work on an entity.
    pub(crate) fn of(&self, id: &str) -> Option<&tokio::sync::Mutex<()>> {
        self.0.get(usize::try_from(bucket_of(id.as_bytes(), TURNS)).ok()?)
    }

    /// Whether somebody has the turn of an entity. Cost: an atomic exchange.
    pub(crate) fn is_taken(&self, id: &str) -> bool {
        self.of(id).is_some_and(is_held)
    }

    /// The turns of the writers of entities: of all of them if they `lost`, else of those for which somebody queues.
    /// Who passed by a queue could win again and again, and who stands in it lose every time. They are taken in order
    /// of place, so that no two writers wait for each other. Cost where nobody queues: an atomic exchange each.
    pub(crate) async fn take<'a>(
        &self,
        ids: impl Iterator<Item = &'a str>,
        lost: bool,
    ) -> Vec<tokio::sync::MutexGuard<'_, ()>> {
        let turn = |place: &u32| self.0.get(usize::try_from(*place).unwrap_or_default());
        let places = ids.map(|id| bucket_of(id.as_bytes(), TURNS));
        let mut places: Vec<u32> = places.filter(|place| lost || turn(place).is_some_and(is_held)).collect();
        places.sort_unstable();
        places.dedup();
        let mut taken = Vec::with_capacity(places.len());
        for turn in places.iter().filter_map(turn) {
            taken.push(turn.lock().await);
        }
        taken
    }
}

fn is_held(turn: &tokio::sync::Mutex<()>) -> bool {
    turn.try_lock().is_err()
}
