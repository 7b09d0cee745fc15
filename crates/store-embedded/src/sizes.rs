//! How many bytes ranges take, as the engine's tables say: estimates, without a walk over rows.

use std::sync::Arc;

use rocksdb::{DEFAULT_COLUMN_FAMILY_NAME, Range as EngineRange};
use store_contract::place::{PlaceBytes, bounds};
use store_contract::{Error, Partition, Range};

use super::failure::family;
use super::shared::Shared;

impl Shared {
    /// The bytes of ranges on disk, in their order. What is in memtables alone is not among them.
    pub(crate) async fn sizes(
        self: &Arc<Self>,
        partition: &Partition,
        ranges: &[Range],
    ) -> Result<Vec<u64>, Error> {
        let places: Vec<Option<(PlaceBytes, PlaceBytes)>> =
            ranges.iter().map(|range| bounds(partition, range)).collect();
        let shared = Arc::clone(self);
        let sizes = move || {
            let engine = shared.engine()?;
            let asked: Vec<_> =
                places.iter().flatten().map(|(start, end)| EngineRange::new(start, end)).collect();
            let rows = family(&engine, DEFAULT_COLUMN_FAMILY_NAME);
            let mut sizes = engine.get_approximate_sizes_cf(rows, &asked).into_iter();
            // A range that nothing can lie in was not asked for.
            let size = |place: &Option<_>| place.as_ref().map_or(0, |_| sizes.next().unwrap_or(0));
            Ok(places.iter().map(size).collect())
        };
        self.block(sizes).await
    }
}
