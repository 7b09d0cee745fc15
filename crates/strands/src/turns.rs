//! Locks of strands whose writers lost a race.

use store::bucket_of;

use crate::strand::Strand;

/// Turns among which strands are spread; a power of two.
const TURNS: u32 = 256;

/// Turns of writers that lost a race.
#[derive(Debug)]
pub(crate) struct Turns(Box<[tokio::sync::Mutex<()>]>);

impl Turns {
    pub(crate) fn new() -> Self {
        Self((0..TURNS).map(|_| tokio::sync::Mutex::default()).collect())
    }

    pub(crate) fn place(strand: &Strand) -> u32 {
        // Many partitions hold one strand, many strands share a partition: both count.
        bucket_of(&strand.name, TURNS) ^ bucket_of(&strand.partition.bucket.to_le_bytes(), TURNS)
    }

    /// Whether somebody has the turn of a strand. Cost: an atomic exchange.
    pub(crate) fn is_taken(&self, place: u32) -> bool {
        self.0.get(place as usize).is_some_and(|turn| turn.try_lock().is_err())
    }

    /// The turns of all these strands; in order of place, so that no two wait for each other.
    pub(crate) async fn take(
        &self,
        places: impl Iterator<Item = u32>,
    ) -> Vec<tokio::sync::MutexGuard<'_, ()>> {
        let mut places: Vec<u32> = places.collect();
        places.sort_unstable();
        places.dedup();
        let mut taken = Vec::with_capacity(places.len());
        for place in places {
            if let Some(turn) = self.0.get(place as usize) {
                taken.push(turn.lock().await);
            }
        }
        taken
    }
}
