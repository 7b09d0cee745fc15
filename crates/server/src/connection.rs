//! One open connection: what it is doing, since when, and the way to end it from outside.
//!
//! Slow clients are found by one sweep a second over all connections instead of one timer per
//! request: a request sets two words of its own connection and no timer wheel is touched.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::task::Context;
use std::time::{Duration, Instant};

use futures_util::task::AtomicWaker;
use parking_lot::Mutex;

/// What a connection is doing.
mod phase {
    pub(super) const IDLE: u8 = 0;
    pub(super) const READING_HEAD: u8 = 1;
    pub(super) const BUSY: u8 = 2;
}

/// What a connection is ordered to do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub(crate) enum Order {
    /// Go on.
    None = 0,
    /// Finish what is under way, then close.
    Drain = 1,
    /// Close now.
    Kill = 2,
}

/// How long a connection may be in a phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// From the first byte of a request's head to its last.
    pub(crate) header: Duration,
    /// Without a request.
    pub(crate) idle: Duration,
}

/// One open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Names it, for as long as the process lives.
    pub(crate) id: u64,
    requests: AtomicU64,
    under_way: AtomicU32,
    phase: AtomicU8,
    /// When the phase began, in seconds of [`Connections::clock`].
    since: AtomicU32,
    multiplexed: AtomicBool,
    order: AtomicU8,
    waker: AtomicWaker,
    clock: Arc<AtomicU32>,
}

impl Connection {
    /// A request begins; dropping the guard ends it. Answers its number on this connection, too.
    pub(crate) fn begin(self: &Arc<Self>, multiplexed: bool) -> (UnderWay, u64) {
        self.phase.store(phase::BUSY, Ordering::Relaxed);
        if multiplexed {
            self.multiplexed.store(true, Ordering::Relaxed);
        }
        self.under_way.fetch_add(1, Ordering::Relaxed);
        (UnderWay(Arc::clone(self)), self.requests.fetch_add(1, Ordering::Relaxed))
    }

    /// Whether no request ever began.
    pub(crate) fn is_fresh(&self) -> bool {
        self.requests.load(Ordering::Relaxed) == 0
    }

    /// Whether the next byte of an HTTP/1 connection is the first of a request's head.
    pub(crate) fn awaits_head(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == phase::IDLE && !self.multiplexed.load(Ordering::Relaxed)
    }

    /// Bytes came in.
    pub(crate) fn note_read(&self) {
        if self.phase.load(Ordering::Relaxed) == phase::IDLE {
            self.since.store(self.clock.load(Ordering::Relaxed), Ordering::Relaxed);
            // Between two requests of HTTP/2 come frames that begin none (PING, SETTINGS).
            if !self.multiplexed.load(Ordering::Relaxed) {
                self.phase.store(phase::READING_HEAD, Ordering::Relaxed);
            }
        }
    }

    /// What it is ordered to do; registers the task to be woken by an order if `first`.
    pub(crate) fn order(&self, context: &Context<'_>, first: bool) -> Order {
        if first {
            self.waker.register(context.waker());
        }
        match self.order.load(Ordering::Acquire) {
            0 => Order::None,
            1 => Order::Drain,
            _ => Order::Kill,
        }
    }

    /// Gives it an order from outside; whether that is a new one.
    pub(crate) fn tell(&self, order: Order) -> bool {
        let before = self.order.fetch_max(order as u8, Ordering::AcqRel);
        self.waker.wake();
        before < order as u8
    }

    /// Which limit of time it has exceeded, if any.
    fn overdue(&self, now: u32, patience: Patience) -> Option<&'static str> {
        let spent = u64::from(now.saturating_sub(self.since.load(Ordering::Relaxed)));
        let beyond = |limit: Duration| spent > limit.as_secs() + u64::from(limit.subsec_nanos() > 0);
        match self.phase.load(Ordering::Relaxed) {
            phase::READING_HEAD if beyond(patience.header) => Some("header_duration_max"),
            phase::IDLE if beyond(patience.idle) => Some("idle_duration_max"),
            _ => None,
        }
    }
}

/// A request under way on a connection.
#[derive(Debug)]
pub(crate) struct UnderWay(Arc<Connection>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        let connection = &self.0;
        if connection.under_way.fetch_sub(1, Ordering::Relaxed) == 1 {
            connection.since.store(connection.clock.load(Ordering::Relaxed), Ordering::Relaxed);
            connection.phase.store(phase::IDLE, Ordering::Relaxed);
        }
    }
}

/// All open connections.
#[derive(Debug)]
pub(crate) struct Connections {
    open: Mutex<HashMap<u64, Arc<Connection>>>,
    next: AtomicU64,
    /// Seconds since the start, set by the sweep: reading it costs nothing.
    clock: Arc<AtomicU32>,
    started: Instant,
}

impl Connections {
    pub(crate) fn new() -> Self {
        Self {
            open: Mutex::new(HashMap::new()),
            next: AtomicU64::new(1),
            clock: Arc::new(AtomicU32::new(0)),
            started: Instant::now(),
        }
    }

    /// How many are open.
    pub(crate) fn count(&self) -> usize {
        self.open.lock().len()
    }

    /// A new connection, unless `max` are open. It counts until the guard is dropped.
    pub(crate) fn open(self: &Arc<Self>, max: usize) -> Option<OpenConnection> {
        let mut open = self.open.lock();
        if open.len() >= max {
            return None;
        }
        let connection = Arc::new(Connection {
            id: self.next.fetch_add(1, Ordering::Relaxed),
            requests: AtomicU64::new(0),
            under_way: AtomicU32::new(0),
            phase: AtomicU8::new(phase::IDLE),
            since: AtomicU32::new(self.clock.load(Ordering::Relaxed)),
            multiplexed: AtomicBool::new(false),
            order: AtomicU8::new(Order::None as u8),
            waker: AtomicWaker::new(),
            clock: Arc::clone(&self.clock),
        });
        open.insert(connection.id, Arc::clone(&connection));
        Some(OpenConnection { all: Arc::clone(self), connection })
    }

    /// Tells every connection that is open now.
    pub(crate) fn tell_all(&self, order: Order) {
        for connection in self.open.lock().values() {
            connection.tell(order);
        }
    }

    /// Sets the clock and ends connections that have exceeded a limit of time; answers how many. To be called
    /// about once a second. Cost: one look at each connection.
    pub(crate) fn sweep(&self, patience: Patience) -> usize {
        let now = u32::try_from(self.started.elapsed().as_secs()).unwrap_or(u32::MAX);
        self.clock.store(now, Ordering::Relaxed);
        let mut ended = 0;
        for connection in self.open.lock().values() {
            // One that was ordered before, and has not ended yet, is not counted again.
            if let Some(limit) = connection.overdue(now, patience)
                && connection.tell(Order::Kill)
            {
                tracing::debug!(connection = connection.id, limit, "connection closed");
                ended += 1;
            }
        }
        ended
    }
}

/// A connection in the list of open ones.
#[derive(Debug)]
pub(crate) struct OpenConnection {
    all: Arc<Connections>,
    pub(crate) connection: Arc<Connection>,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.all.open.lock().remove(&self.connection.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Patience = Patience { header: Duration::from_secs(10), idle: Duration::from_secs(60) };

    fn check(connection: &Connection, after: u32, expected: Option<&str>) {
        assert_eq!(connection.overdue(after, PATIENCE), expected, "after {after} s");
    }

    #[test]
    fn patience_depends_on_what_is_done() {
        let all = Arc::new(Connections::new());
        let open = all.open(1).unwrap();
        let connection = &open.connection;
        check(connection, 60, None);
        check(connection, 61, Some("idle_duration_max"));
        connection.note_read();
        check(connection, 10, None);
        check(connection, 11, Some("header_duration_max"));
        let (under_way, number) = connection.begin(false);
        assert_eq!(number, 0);
        check(connection, 1000, None);
        drop(under_way);
        check(connection, 11, None);
        check(connection, 61, Some("idle_duration_max"));
        let _ = connection.begin(true);
        connection.note_read();
        check(connection, 11, None);
    }

    #[test]
    fn an_order_is_new_once() {
        let all = Arc::new(Connections::new());
        let open = all.open(1).unwrap();
        assert!(open.connection.tell(Order::Drain) && open.connection.tell(Order::Kill));
        assert!(!open.connection.tell(Order::Kill) && !open.connection.tell(Order::Drain));
    }

    #[test]
    fn connections_are_counted_and_limited() {
        let all = Arc::new(Connections::new());
        let first = all.open(2).unwrap();
        let second = all.open(2).unwrap();
        assert!(all.open(2).is_none());
        assert_ne!(first.connection.id, second.connection.id);
        drop(first);
        assert_eq!(all.count(), 1);
        assert!(all.open(2).is_some());
    }
}
