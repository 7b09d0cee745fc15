//! Long work of one request: until when it may go on, when it should pause, and where it runs.
//!
//! The threads of the runtime serve everybody, so nobody may keep one of them for long. Work that may be long counts
//! its steps ([`Pace`]): it asks the clock now and then whether its [`Deadline`] has come, and rests when a slice is
//! over. What turns out to be really long takes a slot of a [`Lane`]: it goes on beside the threads of the runtime,
//! and only so much of it at once as the lane has slots.

use std::cell::RefCell;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Instant;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Steps between two looks at the clock; a step is about a hundred nanoseconds of work.
const STEPS_A_LOOK: u32 = 1024;
/// Steps after which work should let others run.
const STEPS_A_SLICE: u32 = 8192;

/// Until when work may go on. Handed down as an argument; clones share.
#[derive(Clone, Debug, Default)]
pub struct Deadline(Until);

#[derive(Clone, Debug, Default)]
enum Until {
    #[default]
    Never,
    At(Instant),
    /// Comes after so many looks at it: for tests, which do not ask the time.
    Looks(Arc<AtomicU64>),
}

/// The deadline came before the work was done.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the request took longer than request_duration_max")]
pub struct TimedOut;

impl Deadline {
    /// A deadline at this time; `None`: none.
    pub fn at(time: Option<Instant>) -> Self {
        Self(time.map_or(Until::Never, Until::At))
    }

    /// A deadline that comes after so many looks at it.
    pub fn after_looks(looks: u64) -> Self {
        Self(Until::Looks(Arc::new(AtomicU64::new(looks))))
    }

    /// Whether it came. Cost: one look at the clock.
    pub fn is_over(&self) -> bool {
        match &self.0 {
            Until::Never => false,
            Until::At(time) => Instant::now() >= *time,
            Until::Looks(left) => {
                let take = |left: u64| left.checked_sub(1);
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err()
            }
        }
    }

    /// Goes on only before the deadline.
    ///
    /// # Errors
    ///
    /// [`TimedOut`] behind it.
    pub fn check(&self) -> Result<(), TimedOut> {
        if self.is_over() { Err(TimedOut) } else { Ok(()) }
    }
}

/// Counts the steps of one piece of work.
#[derive(Clone, Debug)]
pub struct Pace {
    deadline: Deadline,
    until_look: u32,
    until_rest: u32,
    over: bool,
}

impl Pace {
    /// Work that ends at this deadline.
    pub fn new(deadline: Deadline) -> Self {
        Self { deadline, until_look: STEPS_A_LOOK, until_rest: STEPS_A_SLICE, over: false }
    }

    /// Counts steps; whether the work may go on. Cost: a subtraction, and once in a thousand steps a look at the clock.
    pub fn spend(&mut self, steps: usize) -> bool {
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        self.until_rest = self.until_rest.saturating_sub(steps);
        self.until_look = self.until_look.saturating_sub(steps);
        if self.until_look == 0 {
            self.until_look = STEPS_A_LOOK;
            self.over = self.over || self.deadline.is_over();
        }
        !self.over
    }

    /// Whether the deadline was seen to have come: what was worked out since does not count.
    ///
    /// # Errors
    ///
    /// [`TimedOut`] if so.
    pub fn check(&self) -> Result<(), TimedOut> {
        if self.over { Err(TimedOut) } else { Ok(()) }
    }

    /// Whether it is time to let others run.
    pub fn is_tired(&self) -> bool {
        self.until_rest == 0
    }

    /// Begins a new slice.
    pub fn rest(&mut self) {
        self.until_rest = STEPS_A_SLICE;
    }
}

thread_local! {
    /// The lane in a slot of which this thread is at work.
    static IN_SLOT: RefCell<Option<Lane>> = const { RefCell::new(None) };
}

/// Lets others run: the other tasks of this thread. Work that is driven in a slot keeps no thread of the runtime, so it lets go
/// of the slot only where others wait for one: it would go on on another thread, whose caches know nothing of it.
pub async fn rest() {
    let is_alone = is_multi_threaded()
        && IN_SLOT.with_borrow(|lane| lane.as_ref().is_some_and(|lane| lane.waiting() == 0));
    if !is_alone {
        tokio::task::yield_now().await;
    }
}

fn is_multi_threaded() -> bool {
    Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread)
}

/// Where long work runs: beside the threads of the runtime, so much at once as there are slots. Clones share.
///
/// Invariant: whoever waits for a slot holds no thread, and whoever has one holds no thread of the runtime while it works.
#[derive(Clone, Debug)]
pub struct Lane(Arc<LaneState>);

#[derive(Debug)]
struct LaneState {
    slots: Arc<Semaphore>,
    waiting: AtomicUsize,
    taken: AtomicU64,
}

/// A slot of a [`Lane`], free again when it is dropped.
#[derive(Debug)]
pub struct Slot(
    #[expect(dead_code, reason = "gives its slot back when dropped")] Option<OwnedSemaphorePermit>,
);

impl Lane {
    /// A lane of so many slots, at least one.
    pub fn new(slots: usize) -> Self {
        let slots = Arc::new(Semaphore::new(slots.clamp(1, Semaphore::MAX_PERMITS)));
        Self(Arc::new(LaneState { slots, waiting: AtomicUsize::new(0), taken: AtomicU64::new(0) }))
    }

    /// A slot, as soon as one is free; first come, first served. Work that is driven in a slot has one, and gets no
    /// second: work that has one and waits for another could wait for ever.
    pub async fn enter(&self) -> Slot {
        if IN_SLOT.with_borrow(Option::is_some) {
            return Slot(None);
        }
        let state = &*self.0;
        let waiting = Waiting::new(&state.waiting);
        // The semaphore is never closed.
        let permit = Arc::clone(&state.slots).acquire_owned().await.ok();
        drop(waiting);
        state.taken.fetch_add(1, Ordering::Relaxed);
        Slot(permit)
    }

    /// Does `work` in a slot of its own.
    pub async fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let slot = self.enter().await;
        slot.run(work)
    }

    /// Does asynchronous work, each step of it in a slot: it has none while it waits for something else.
    pub async fn drive<F: Future>(&self, work: F) -> F::Output {
        let mut work = std::pin::pin!(work);
        loop {
            let slot = self.enter().await;
            let step = poll_fn(|context| {
                Poll::Ready(slot.run(|| {
                    let _in_slot = InSlot::of(self);
                    work.as_mut().poll(context)
                }))
            })
            .await;
            drop(slot);
            if let Poll::Ready(output) = step {
                return output;
            }
            // The work said by whom this task is woken.
            let mut woken = false;
            poll_fn(|_| if std::mem::replace(&mut woken, true) { Poll::Ready(()) } else { Poll::Pending })
                .await;
        }
    }

    /// Work that waits for a slot.
    pub fn waiting(&self) -> usize {
        self.0.waiting.load(Ordering::Relaxed)
    }

    /// Slots given so far.
    pub fn taken(&self) -> u64 {
        self.0.taken.load(Ordering::Relaxed)
    }
}

impl Slot {
    /// Does `work` on this thread, whose other tasks move to another one. (A runtime of one thread has no other: there it
    /// is simply done.)
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        if is_multi_threaded() { tokio::task::block_in_place(work) } else { work() }
    }
}

/// Marks this thread as at work in a slot of a lane while it lives.
struct InSlot(Option<Lane>);

impl InSlot {
    fn of(lane: &Lane) -> Self {
        Self(IN_SLOT.replace(Some(lane.clone())))
    }
}

impl Drop for InSlot {
    fn drop(&mut self) {
        IN_SLOT.set(self.0.take());
    }
}

/// Counts who waits, also those who give up.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_deadline_is_seen_within_a_look() {
        let mut pace = Pace::new(Deadline::after_looks(2));
        let steps = (0..).take_while(|_| pace.spend(1)).count();
        assert_eq!(steps, 3 * STEPS_A_LOOK as usize - 1);
        assert_eq!((pace.check(), pace.spend(0)), (Err(TimedOut), false));
        assert!(Pace::new(Deadline::default()).spend(usize::MAX));
        let past = Deadline::at(Some(Instant::now()));
        assert!(past.is_over() && !Pace::new(past).spend(usize::MAX));
        assert!(!Deadline::at(Some(Instant::now() + Duration::from_secs(3600))).is_over());
    }

    #[test]
    fn work_is_tired_after_a_slice() {
        let mut pace = Pace::new(Deadline::default());
        let steps = (0..).take_while(|_| pace.spend(1) && !pace.is_tired()).count();
        assert_eq!(steps, STEPS_A_SLICE as usize - 1);
        pace.rest();
        assert!(!pace.is_tired());
    }

    #[tokio::test(start_paused = true)]
    async fn work_in_a_slot_needs_no_second_one() {
        let lane = Lane::new(1);
        let work = |steps: usize| {
            let lane = lane.clone();
            async move {
                let driven = lane.drive(async {
                    for _ in 0..steps {
                        let slot = lane.enter().await;
                        tokio::task::yield_now().await;
                        drop(slot);
                    }
                    let _held = lane.enter().await;
                    tokio::task::yield_now().await;
                });
                tokio::time::timeout(Duration::from_secs(60), driven).await
            }
        };
        let all: Vec<_> = (0..4).map(|steps| tokio::spawn(work(steps))).collect();
        for done in all {
            assert_eq!(done.await.unwrap(), Ok(()));
        }
        assert!(IN_SLOT.with_borrow(Option::is_none));
        assert_eq!(lane.0.slots.available_permits(), 1);
    }

    #[tokio::test]
    async fn work_that_waits_has_no_slot() {
        let lane = Lane::new(1);
        let (told, ask) = tokio::sync::oneshot::channel();
        let waits = lane.drive(ask);
        let other = async {
            let done = lane.drive(async { 1 }).await;
            told.send(2).unwrap();
            done
        };
        let (waited, other) = tokio::join!(waits, other);
        assert_eq!((waited, other), (Ok(2), 1));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn work_in_a_slot_rests_where_others_wait_for_one() {
        let lane = Lane::new(1);
        lane.drive(async {
            for _ in 0..100 {
                rest().await;
            }
        })
        .await;
        assert_eq!(lane.taken(), 1);
        let (order, mut after) = tokio::sync::mpsc::channel(2);
        let work = |name: u32, waits: bool| {
            let (lane, order) = (lane.clone(), order.clone());
            let driven = lane.clone();
            async move {
                driven
                    .drive(async {
                        while waits && lane.waiting() == 0 {
                            std::thread::yield_now();
                        }
                        rest().await;
                        order.try_send(name).unwrap();
                    })
                    .await;
            }
        };
        let first = tokio::spawn(work(1, true));
        while lane.taken() < 2 {
            tokio::task::yield_now().await;
        }
        let second = tokio::spawn(work(2, false));
        first.await.unwrap();
        second.await.unwrap();
        assert_eq!((after.recv().await, after.recv().await), (Some(2), Some(1)));
    }

    #[tokio::test]
    async fn where_there_is_one_thread_work_in_a_slot_rests() {
        let (lane, turns) = (Lane::new(1), std::cell::Cell::new(0));
        let work = lane.drive(async {
            for _ in 0..100 {
                rest().await;
            }
        });
        let other = async {
            loop {
                turns.set(turns.get() + 1);
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            () = work => {}
            () = other => {}
        }
        assert!(turns.get() >= 100, "{}", turns.get());
    }

    /// Two pieces of work that never pause, and one slot, on a runtime of one worker: another task still runs.
    #[test]
    fn others_run_while_the_lane_is_busy() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let lane = Lane::new(1);
        let (busy, done) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let long = runtime.spawn({
            let (lane, busy, done) = (lane.clone(), Arc::clone(&busy), Arc::clone(&done));
            async move {
                lane.run(|| {
                    busy.wait();
                    done.wait();
                })
                .await;
            }
        });
        busy.wait();
        let second = runtime.spawn({
            let lane = lane.clone();
            async move { lane.run(|| 2).await }
        });
        let other = runtime.spawn({
            let lane = lane.clone();
            async move {
                while lane.waiting() == 0 {
                    tokio::task::yield_now().await;
                }
                1
            }
        });
        assert_eq!(runtime.block_on(other).unwrap(), 1);
        assert_eq!(lane.taken(), 1);
        done.wait();
        runtime.block_on(long).unwrap();
        assert_eq!(runtime.block_on(second).unwrap(), 2);
        assert_eq!((lane.waiting(), lane.taken()), (0, 2));
    }
}
