//! The disk that a store lies on: how much of it is free, from when on writes are refused so that it does not fill up, and
//! a file that is given back if it did all the same.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use super::options::EmbeddedOptions;
use store_contract::{Commit, Write};

/// What stays free if nobody says how much, at most ...
const FREE_BYTES_MIN: u64 = 1024 * 1024 * 1024;
/// ... and at most this part of the disk.
const FREE_PART: u64 = 20;
/// The ballast is at most this part of the disk.
const BALLAST_PART: u64 = 100;
/// Writes are taken again once so much more is free than must stay free: this part of it.
const SLACK_PART: u64 = 8;
const BALLAST: &str = "BALLAST";
/// After an attempt to set the ballast aside, the next comes so much later: it may have written all its bytes for nothing.
const BALLAST_PAUSE: Duration = Duration::from_mins(10);
/// What a file system counts its blocks in.
const BLOCK_BYTES: u64 = 512;
static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

/// A look at a disk.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Disk {
    free_bytes: u64,
    bytes: u64,
}

impl Disk {
    /// The disk of a folder; `None` if the system does not say.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        let found = rustix::fs::statvfs(folder).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        Some(Self { free_bytes: bytes(found.f_bavail), bytes: bytes(found.f_blocks) })
    }

    /// Bytes that are free.
    pub(crate) fn free_bytes(self) -> u64 {
        self.free_bytes
    }

    /// Bytes that must stay free.
    pub(crate) fn reserved_bytes(self, options: &EmbeddedOptions) -> u64 {
        options.disk_free_min.unwrap_or_else(|| FREE_BYTES_MIN.min(self.bytes / FREE_PART))
    }

    /// Whether less is free than must stay free.
    pub(crate) fn is_low(self, options: &EmbeddedOptions) -> bool {
        self.free_bytes < self.reserved_bytes(options)
    }

    /// Whether writes may begin again.
    pub(crate) fn has_room(self, options: &EmbeddedOptions) -> bool {
        let reserved = self.reserved_bytes(options);
        self.free_bytes >= reserved.saturating_add(reserved / SLACK_PART)
    }

    fn ballast_bytes(self, options: &EmbeddedOptions) -> u64 {
        options.ballast_bytes_max.min(self.bytes / BALLAST_PART)
    }
}

/// Bytes that belong to nobody, for when all others are taken.
#[derive(Debug)]
pub(crate) struct Ballast {
    path: PathBuf,
    /// Held while the file is made or removed.
    plan: Mutex<Plan>,
}

#[derive(Debug, Default)]
struct Plan {
    is_over: bool,
    /// When it may be set aside.
    from: Option<Instant>,
}

impl Ballast {
    /// The ballast of a store.
    pub(crate) fn of(folder: &Path) -> Self {
        Self { path: folder.join(BALLAST), plan: Mutex::default() }
    }

    /// Takes the bytes if there is room for them, and the store still serves once nobody else is at them. Cost: a look at the
    /// file, if it is there.
    ///
    /// # Errors
    ///
    /// What the file system says; then nothing is taken, and for a while nothing is tried.
    pub(crate) fn take(
        &self,
        disk: Disk,
        options: &EmbeddedOptions,
        is_serving: impl Fn() -> bool,
    ) -> io::Result<()> {
        let bytes = disk.ballast_bytes(options);
        let mut plan = self.plan.lock();
        if plan.is_over || !is_serving() {
            return Ok(());
        }
        // A copied file may have a length and no bytes.
        let taken = |found: fs::Metadata| found.len().min(found.blocks().saturating_mul(BLOCK_BYTES));
        let present = fs::metadata(&self.path).map_or(0, taken);
        let needed = disk.reserved_bytes(options).saturating_add(bytes.saturating_mul(2));
        if present >= bytes || disk.free_bytes < needed {
            return Ok(());
        }
        let now = Instant::now();
        if plan.from.is_some_and(|from| now < from) {
            return Ok(());
        }
        plan.from = Some(now + BALLAST_PAUSE);
        let outcome = allocate(&self.path, bytes);
        if outcome.is_err() {
            self.remove();
        }
        outcome
    }

    /// Gives the bytes back; whether there were any.
    pub(crate) fn give_back(&self) -> bool {
        let mut plan = self.plan.lock();
        let is_given = self.remove();
        if is_given {
            plan.from = None;
        }
        is_given
    }

    /// Gives the bytes back for good.
    pub(crate) fn end(&self) {
        self.plan.lock().is_over = true;
        self.give_back();
    }

    fn remove(&self) -> bool {
        match fs::remove_file(&self.path) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => {
                tracing::warn!(%error, path = %self.path.display(), "the ballast cannot be given back");
                false
            }
        }
    }
}

fn allocate(path: &Path, bytes: u64) -> io::Result<()> {
    let file = OpenOptions::new().create(true).truncate(true).write(true).open(path)?;
    match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => fill(file, bytes),
        outcome => Ok(outcome?),
    }
}

fn fill(mut file: File, bytes: u64) -> io::Result<()> {
    let mut left = bytes;
    while left > 0 {
        let step = left.min(ZEROS.len() as u64);
        file.write_all(ZEROS.get(..usize::try_from(step).unwrap_or(ZEROS.len())).unwrap_or(&ZEROS))?;
        left -= step;
    }
    Ok(())
}

/// Whether a commit is taken on a nearly full disk: it says that it makes room, or does nothing but remove. Cost: to the first
/// row that it puts.
pub(crate) fn makes_room(commit: &Commit) -> bool {
    let removed = |write: &Write| matches!(write, Write::Delete(_) | Write::DeleteRange(_));
    commit.reclaims || (!commit.writes.is_empty() && commit.writes.iter().all(removed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(disk_free_min: Option<u64>, bytes: u64, low_below: u64, room_from: u64) {
        let options = EmbeddedOptions { disk_free_min, ..EmbeddedOptions::recommended() };
        let free = |free_bytes| Disk { free_bytes, bytes };
        assert_eq!(free(0).reserved_bytes(&options), low_below);
        assert!(!free(low_below).is_low(&options));
        assert!(low_below == 0 || free(low_below - 1).is_low(&options));
        assert!(free(room_from).has_room(&options));
        assert!(room_from == 0 || !free(room_from - 1).has_room(&options));
    }

    /// A disk with room for anything, whatever there is.
    const VAST: Disk = Disk { free_bytes: u64::MAX, bytes: u64::MAX };

    #[test]
    fn a_ballast_that_cannot_be_taken_leaves_nothing_and_rests() {
        let folder = tempfile::tempdir().unwrap();
        let ballast = Ballast::of(folder.path());
        let options = |ballast_bytes_max| EmbeddedOptions {
            ballast_bytes_max,
            disk_free_min: Some(0),
            ..EmbeddedOptions::recommended()
        };
        assert!(ballast.take(VAST, &options(1 << 56), || true).is_err(), "no disk has so much");
        assert!(!ballast.path.exists());
        ballast.take(VAST, &options(4_096), || true).unwrap();
        assert!(!ballast.path.exists(), "not at once");
    }

    #[test]
    fn a_ballast_is_taken_where_it_is_hollow_and_not_after_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let options = EmbeddedOptions {
            ballast_bytes_max: 64 << 10,
            disk_free_min: Some(0),
            ..EmbeddedOptions::recommended()
        };
        let ballast = Ballast::of(folder.path());
        File::create(&ballast.path).unwrap().set_len(64 << 10).unwrap();
        ballast.take(VAST, &options, || false).unwrap();
        assert_eq!(fs::metadata(&ballast.path).unwrap().blocks(), 0, "the disk became full meanwhile");
        ballast.take(VAST, &options, || true).unwrap();
        assert!(fs::metadata(&ballast.path).unwrap().blocks() > 0);
        ballast.end();
        ballast.take(VAST, &options, || true).unwrap();
        assert!(!ballast.path.exists());
    }

    #[test]
    fn what_is_kept_free_scales_with_the_disk() {
        const MIB: u64 = 1 << 20;
        check(None, 1 << 40, 1024 * MIB, 1152 * MIB);
        check(None, 80 * MIB, 4 * MIB, 4 * MIB + MIB / 2);
        check(None, 0, 0, 0);
        check(Some(0), 1 << 40, 0, 0);
        check(Some(8 * MIB), 80 * MIB, 8 * MIB, 9 * MIB);
    }
}
