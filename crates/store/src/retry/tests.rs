//! Budgets end, waits grow, and who lost queues.

use std::sync::Arc;

use tokio::time::Instant;

use super::*;

#[tokio::test(start_paused = true)]
async fn attempts_are_counted_and_waits_grow_to_their_end() {
    let backoff = RetryBackoff::waiting(9, 2, Duration::from_millis(10));
    let (mut attempts, mut begun) = (backoff.attempts(), Vec::new());
    let start = Instant::now();
    while attempts.next().await {
        begun.push(start.elapsed().as_millis());
    }
    assert_eq!(begun, [0, 0, 0, 2, 6, 14, 24, 34, 44]);
    assert!(!attempts.next().await, "a spent budget stays so");
    let exhausted = attempts.exhausted("a thing");
    assert_eq!((&*exhausted.what, exhausted.attempts), ("a thing", 9));
    assert_eq!(exhausted.into_error().kind(), ErrorKind::Unavailable);
}

#[tokio::test(start_paused = true)]
async fn attempts_at_once_do_not_wait() {
    let (mut attempts, start) = (RetryBackoff::at_once(64).attempts(), Instant::now());
    while attempts.next().await {
        assert_eq!(attempts.is_first(), attempts.made() == 1);
    }
    assert_eq!((attempts.made(), start.elapsed()), (64, Duration::ZERO));
}

#[test]
fn lost_races_are_told_from_refusals() {
    let lost = |kind| unless_lost::<()>(Err(Error::new(kind, "commit"))).map_err(|error| error.kind());
    assert_eq!(unless_lost(Ok(7)).unwrap(), Some(7));
    assert_eq!(lost(ErrorKind::Conflict), Ok(None));
    assert_eq!(lost(ErrorKind::Fenced), Ok(None));
    for kind in [ErrorKind::Unknown, ErrorKind::Unavailable, ErrorKind::TooLarge, ErrorKind::Corrupt] {
        assert_eq!(lost(kind), Err(kind));
    }
}

#[tokio::test]
async fn who_lost_queues_and_others_queue_behind_them_only() {
    let locks = RetryLocks::new(64);
    let (one, other) = (locks.of(&[b"one"]), locks.of(&[b"other"]));
    assert_ne!(one, other);
    assert!(locks.queue([(one, HasLost(false))].into_iter()).await.is_empty(), "nobody queues");
    let first = locks.queue([(one, HasLost(true)), (one, HasLost(true))].into_iter()).await;
    assert_eq!((first.len(), locks.is_queued(one), locks.is_queued(other)), (1, true, false));
    assert!(locks.queue([(other, HasLost(false))].into_iter()).await.is_empty());
    let mut second = Box::pin(locks.queue([(one, HasLost(false)), (other, HasLost(false))].into_iter()));
    assert!(futures_poll(&mut second).await.is_none(), "it waits");
    drop(first);
    assert_eq!(second.await.len(), 1, "of the other lock nobody has lost");
}

/// Two writers that want the same locks in different orders both get them.
#[tokio::test]
async fn writers_of_several_do_not_wait_for_each_other() {
    let locks = Arc::new(RetryLocks::new(8));
    let names: Vec<[u8; 1]> = (0..32).map(|name| [name]).collect();
    let task = |names: Vec<[u8; 1]>| {
        let locks = Arc::clone(&locks);
        tokio::spawn(async move {
            for _ in 0..100 {
                let all = names.iter().map(|name| (locks.of(&[name]), HasLost(true)));
                let guards = locks.queue(all).await;
                tokio::task::yield_now().await;
                assert!(guards.len() > 4, "names share locks");
            }
        })
    };
    let forward = task(names.clone());
    let backward = task(names.into_iter().rev().collect());
    forward.await.unwrap();
    backward.await.unwrap();
}

async fn futures_poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(match std::pin::Pin::new(&mut *future).poll(context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        })
    })
    .await
}
