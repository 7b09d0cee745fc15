//! Reservations beside each other: what is given back, what waits, and what is refused.

use super::*;

/// More than is small, also a sixteenth of the requests below.
const PART: usize = 2 * SMALL_BYTES;

/// Time stands still until everybody waits for it: then, and only then, the wait ends.
const PATIENCE: Duration = Duration::from_secs(3600);

#[tokio::test(start_paused = true)]
async fn large_requests_at_once_all_get_through() {
    for (bytes_max, request_bytes_max) in
        [(16 * PART, 16 * PART), (40 * PART, 16 * PART), (100 * PART, 9 * PART)]
    {
        let budget = MemoryBudget::new(bytes_max, request_bytes_max, PATIENCE);
        let bodies: Vec<_> = (0..64)
            .map(|body| {
                let budget = budget.clone();
                tokio::spawn(async move {
                    let mut share = budget.reservation();
                    for part in 1..=16 {
                        share.grow(request_bytes_max * part / 16).await?;
                        assert!(
                            budget.reserved_bytes() <= bytes_max,
                            "{} of {bytes_max}",
                            budget.reserved_bytes()
                        );
                        // Others come between, not always the same ones.
                        for _ in 0..(body * part) % 3 {
                            tokio::task::yield_now().await;
                        }
                    }
                    Ok::<_, MemoryFull>(())
                })
            })
            .collect();
        for body in bodies {
            assert_eq!(body.await.expect("no panic"), Ok(()));
        }
        assert_eq!((budget.reserved_bytes(), budget.refused()), (0, 0));
        assert_eq!(budget.inner.common.available_permits(), budget.inner.common_units);
        assert_eq!(budget.inner.reserve.available_permits(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn who_finds_no_room_waits_and_is_refused() {
    let budget = MemoryBudget::new(10 * PART, 4 * PART, PATIENCE);
    let (mut common, mut reserve, mut third) =
        (budget.reservation(), budget.reservation(), budget.reservation());
    common.grow(6 * PART).await.expect("room");
    reserve.grow(4 * PART - 1).await.expect("the reserve");
    assert_eq!(budget.reserved_bytes(), 10 * PART);
    assert_eq!(third.grow(PART).await, Err(MemoryFull));
    assert_eq!((budget.refused(), budget.reserved_bytes()), (1, 10 * PART));
    // Who has the reserve goes on, whatever it needs.
    assert_eq!(reserve.grow(5 * PART).await, Ok(()));
    assert_eq!(budget.reserved_bytes(), 11 * PART);
    let waiting = tokio::spawn(async move { third.grow(PART).await });
    tokio::task::yield_now().await;
    drop(common);
    assert_eq!(waiting.await.expect("no panic"), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn what_is_small_passes_a_full_room() {
    let budget = MemoryBudget::new(10 * PART, 4 * PART, PATIENCE);
    let (mut common, mut reserve, mut small) =
        (budget.reservation(), budget.reservation(), budget.reservation());
    common.grow(6 * PART).await.expect("room");
    reserve.grow(4 * PART).await.expect("the reserve");
    for bytes in [0, 1, SMALL_BYTES] {
        assert_eq!(tokio::time::timeout(Duration::ZERO, small.grow(bytes)).await, Ok(Ok(())));
    }
    assert_eq!((budget.reserved_bytes(), budget.refused()), (10 * PART, 0));
    assert_eq!(small.grow(SMALL_BYTES + 1).await, Err(MemoryFull));
    assert_eq!(budget.refused(), 1);
    drop(common);
    // Beyond it takes budget for all of it.
    assert_eq!(small.grow(SMALL_BYTES + 1).await, Ok(()));
    assert_eq!(budget.reserved_bytes(), 4 * PART + SMALL_BYTES + UNIT_BYTES);
    drop((small, reserve));
    assert_eq!(budget.reserved_bytes(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_reserve_is_left_as_soon_as_there_is_room() {
    let budget = MemoryBudget::new(8 * PART, 4 * PART, PATIENCE);
    let (mut first, mut second) = (budget.reservation(), budget.reservation());
    first.grow(4 * PART).await.expect("room");
    second.grow(2 * PART).await.expect("the reserve");
    drop(first);
    second.grow(3 * PART).await.expect("room");
    assert_eq!((second.common, second.reserve), (3 * PART / UNIT_BYTES, None));
    assert_eq!(budget.reserved_bytes(), 3 * PART);
    // A cancelled wait reserves nothing.
    let mut third = budget.reservation();
    third.grow(4 * PART).await.expect("the reserve");
    let waiting = tokio::spawn({
        let mut share = budget.reservation();
        async move { share.grow(3 * PART).await }
    });
    tokio::task::yield_now().await;
    waiting.abort();
    assert!(waiting.await.expect_err("aborted").is_cancelled());
    drop((second, third));
    assert_eq!(budget.reserved_bytes(), 0);
}

#[tokio::test(start_paused = true)]
async fn parts_of_a_request_add_up_and_never_wait_for_each_other() {
    // Nothing but the reserve: each request holds a body, then points, then a page.
    let budget = MemoryBudget::new(4 * PART, 4 * PART, PATIENCE);
    let requests: Vec<_> = (0..8)
        .map(|_| {
            let memory = budget.request();
            tokio::spawn(async move {
                let (mut body, mut points) = (memory.share(), memory.share());
                body.grow(PART).await?;
                tokio::task::yield_now().await;
                body.grow(3 * PART).await?;
                points.grow(2 * PART).await?;
                tokio::task::yield_now().await;
                memory.grow(PART).await?;
                let mut answer = memory.take().await;
                answer.settle(PART);
                Ok::<_, MemoryFull>(answer)
            })
        })
        .collect();
    for request in requests {
        drop(request.await.expect("no panic").expect("room"));
    }
    assert_eq!((budget.reserved_bytes(), budget.refused()), (0, 0));
    assert_eq!(budget.inner.reserve.available_permits(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_keeps_what_its_request_held() {
    let budget = MemoryBudget::new(6 * PART, 2 * PART, PATIENCE);
    let memory = budget.request();
    memory.grow(3 * PART).await.expect("room");
    let waiting = tokio::spawn({
        let memory = budget.request();
        async move {
            memory.grow(2 * PART).await?;
            memory.grow(2 * PART).await?;
            Ok::<_, MemoryFull>(memory)
        }
    });
    tokio::task::yield_now().await;
    // The other one has the reserve, and waits for nothing; the answer is smaller than what was reserved for it.
    let mut answer = memory.take().await;
    answer.settle(PART);
    let other = waiting.await.expect("no panic").expect("room");
    assert_eq!(budget.reserved_bytes(), 5 * PART);
    // An answer that must be given is, though there is no room for it.
    answer.settle(9 * PART);
    assert_eq!((budget.reserved_bytes(), answer.overdrawn), (13 * PART, 8 * PART / UNIT_BYTES));
    answer.settle(SMALL_BYTES);
    drop(other);
    assert_eq!((budget.reserved_bytes(), budget.refused()), (0, 0));
    assert_eq!(budget.inner.common.available_permits(), budget.inner.common_units);
}

#[tokio::test]
async fn small_parts_reserve_once_they_are_no_longer_small_together() {
    let budget = MemoryBudget::new(6 * PART, 2 * PART, PATIENCE);
    let memory = budget.request();
    memory.grow(SMALL_BYTES).await.expect("room");
    assert_eq!(budget.reserved_bytes(), 0);
    memory.grow(UNIT_BYTES).await.expect("room");
    assert_eq!(budget.reserved_bytes(), SMALL_BYTES + UNIT_BYTES);
    assert_eq!(RequestMemory::default().grow(1 << 40).await, Ok(()));
}
