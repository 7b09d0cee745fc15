//! What a slice of passing over may cost.

use super::*;
use crate::read_options::TIER_DISK;
use crate::skip::ROWS_INLINE_MAX;
use store_contract::Range;
use store_contract::place::bounds;

#[tokio::test]
async fn runs_without_rows_are_paid_for_by_the_seek() {
    const ROWS: u32 = 40_000;
    let folder = tempfile::tempdir().unwrap();
    let store = Embedded::open(folder.path(), options(Clock::System)).unwrap();
    let puts = (0..ROWS).map(|n| Write::Put(format!("k{n:05}").into(), Bytes::new())).collect();
    store.commit(testing::commit(1, vec![], puts)).await.unwrap();
    let (partition, range) = (testing::things(0), Range::prefix("k"));
    let (start, end) = bounds(&partition, &range).unwrap();
    let pass = |at, walk_max| {
        let passed = store.shared().pass((&start, &end), at, usize::MAX, (walk_max, TIER_DISK));
        passed.unwrap().unwrap()
    };
    assert_eq!(pass(start.clone(), usize::MAX), (ROWS as usize, None));
    store.commit(testing::commit(2, vec![], vec![Write::DeleteRange(range.clone())])).await.unwrap();
    let (mut slices, mut at) = (1, start.clone());
    // Each slice counts runs that the next one needs not.
    while let (passed, Some(next)) = pass(at, ROWS_INLINE_MAX) {
        assert_eq!(passed, 0);
        (slices, at) = (slices + 1, next);
    }
    assert_eq!(slices, 2);
    assert_eq!(pass(start.clone(), 1), (0, None));
}
