//! The monitor: the thread that looks, while the store is open, whether its folder is still there, whether the disk has room, and
//! whether one that was full has room again.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::WeakSender;

use super::disk::Disk;
use super::request::{Queued, Request};
use super::shared::Shared;
use super::state::State;

/// A full store is opened again only if so much is free, and half as much as memtables hold, which opening writes out.
const ROOM_BYTES_MIN: u64 = 8 * 1024 * 1024;
/// What is said when writes are taken again.
pub(crate) const ROOM_AGAIN: &str = "there is room on the disk again: the store takes writes";
/// The longest pause between two attempts to open a full store again.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Looks at folder and disk every [`super::options::EmbeddedOptions::look`], until it is stopped.
pub(crate) fn run(shared: &Shared, queue: &WeakSender<Queued>, stopped: &Receiver<()>) {
    let look = shared.options.look;
    let mut attempts = Attempts { pause: look, next: None };
    while stopped.recv_timeout(look) == Err(RecvTimeoutError::Timeout) {
        if !shared.check_folder() {
            continue;
        }
        let disk = shared.disk();
        match shared.state() {
            State::Full => {
                // It may not have been possible when the disk became full.
                shared.ballast.give_back();
                if has_room(shared, disk)
                    && attempts.is_due()
                    && let Some(queue) = queue.upgrade()
                {
                    // A queue without room is tried at the next look.
                    let _ = queue.try_send(Queued { request: Request::Reopen, room: None });
                }
            }
            State::Low => {
                if disk.is_none_or(|disk| disk.has_room(&shared.options)) && shared.note_room() {
                    tracing::info!("{ROOM_AGAIN}");
                }
            }
            State::Serving => {
                attempts = Attempts { pause: look, next: None };
                look_at_room(shared, disk);
            }
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

/// Stops writes if the disk is nearly full, and sets the ballast aside if there is room.
fn look_at_room(shared: &Shared, disk: Option<Disk>) {
    let Some(disk) = disk else { return };
    if disk.is_low(&shared.options) {
        shared.note_low();
    } else if let Err(error) = shared.ballast.take(disk, &shared.options, || shared.is_serving()) {
        tracing::debug!(%error, "no ballast is set aside");
    }
}

/// Whether the disk seems to have room for what opening writes and a little more. A disk that cannot be asked is tried.
fn has_room(shared: &Shared, disk: Option<Disk>) -> bool {
    let Some(disk) = disk else { return true };
    disk.free_bytes() >= ROOM_BYTES_MIN.saturating_add(shared.memtable_bytes() / 2)
}
