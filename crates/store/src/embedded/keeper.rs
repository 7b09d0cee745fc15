//! The thread that looks after the store while it is open: whether its folder is still there, and whether a disk that
//! was full has room again.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::WeakSender;

use super::committer::{Queued, Request};
use super::shared::Shared;
use super::state::State;

/// A full store is opened again only if so much is free, and half as much as memtables hold, which opening writes out.
const ROOM_BYTES_MIN: u64 = 8 * 1024 * 1024;
/// The longest pause between two attempts to open a full store again.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Looks at folder and disk every [`super::EmbeddedOptions::look`], until it is stopped.
pub(crate) fn keep(shared: &Shared, queue: &WeakSender<Queued>, stopped: &Receiver<()>) {
    let look = shared.options.look;
    let mut attempts = Attempts { pause: look, next: None };
    while stopped.recv_timeout(look) == Err(RecvTimeoutError::Timeout) {
        shared.check_folder();
        match shared.state() {
            State::Full => {
                if has_room(shared)
                    && attempts.is_due()
                    && let Some(queue) = queue.upgrade()
                {
                    // A queue without room is tried at the next look.
                    let _ = queue.try_send(Queued { request: Request::Reopen, room: None });
                }
            }
            State::Serving => attempts = Attempts { pause: look, next: None },
            State::Failed | State::Lost | State::Closed => {}
        }
    }
}

/// When a full store is opened again: each pause is twice the one before.
struct Attempts {
    pause: Duration,
    next: Option<Instant>,
}

impl Attempts {
    fn is_due(&mut self) -> bool {
        let now = Instant::now();
        if self.next.is_some_and(|next| now < next) {
            return false;
        }
        self.next = Some(now + self.pause);
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        true
    }
}

/// Whether the disk seems to have room for what opening writes and a little more. A disk that cannot be asked is tried.
fn has_room(shared: &Shared) -> bool {
    let Ok(disk) = rustix::fs::statvfs(shared.path()) else { return true };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    free >= ROOM_BYTES_MIN.saturating_add(shared.memtable_bytes() / 2)
}
