//! The disk that a store lies on: how much of it is free, from when on writes are refused so that it does not fill up, and
//! a file that is given back if it did all the same.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use super::EmbeddedOptions;
use crate::{Commit, Write};

/// What is kept free if nobody says how much, at most ...
const FREE_BYTES_MIN: u64 = 1024 * 1024 * 1024;
/// ... and at most this part of the disk.
const FREE_PART: u64 = 20;
/// The ballast is at most this part of the disk.
const BALLAST_PART: u64 = 100;
/// Writes are taken again once so much more is free than is kept: this part of it.
const SLACK_PART: u64 = 8;
const BALLAST: &str = "BALLAST";
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

    /// Bytes that are kept free.
    pub(crate) fn kept_bytes(self, options: &EmbeddedOptions) -> u64 {
        options.disk_free_min.unwrap_or_else(|| FREE_BYTES_MIN.min(self.bytes / FREE_PART))
    }

    /// Whether less is free than is kept.
    pub(crate) fn is_low(self, options: &EmbeddedOptions) -> bool {
        self.free_bytes < self.kept_bytes(options)
    }

    /// Whether writes may begin again.
    pub(crate) fn has_room(self, options: &EmbeddedOptions) -> bool {
        let kept = self.kept_bytes(options);
        self.free_bytes >= kept.saturating_add(kept / SLACK_PART)
    }

    fn ballast_bytes(self, options: &EmbeddedOptions) -> u64 {
        options.ballast_bytes_max.min(self.bytes / BALLAST_PART)
    }
}

/// Bytes that belong to nobody, for when all others are taken.
#[derive(Debug)]
pub(crate) struct Ballast(PathBuf);

impl Ballast {
    /// The ballast of a store.
    pub(crate) fn of(folder: &Path) -> Self {
        Self(folder.join(BALLAST))
    }

    /// Takes the bytes if there is room for them. Cost: a look at the file, if it is there.
    ///
    /// # Errors
    ///
    /// What the file system says.
    pub(crate) fn take(&self, disk: Disk, options: &EmbeddedOptions) -> io::Result<()> {
        let bytes = disk.ballast_bytes(options);
        let held = fs::metadata(&self.0).map_or(0, |found| found.len());
        let needed = disk.kept_bytes(options).saturating_add(bytes.saturating_mul(2));
        if held >= bytes || disk.free_bytes < needed {
            return Ok(());
        }
        let file = OpenOptions::new().create(true).truncate(true).write(true).open(&self.0)?;
        match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => fill(file, bytes),
            outcome => Ok(outcome?),
        }
    }

    /// Gives the bytes back; whether there were any.
    pub(crate) fn give_back(&self) -> bool {
        match fs::remove_file(&self.0) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => {
                tracing::warn!(%error, path = %self.0.display(), "the ballast cannot be given back");
                false
            }
        }
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
        assert_eq!(free(0).kept_bytes(&options), low_below);
        assert!(!free(low_below).is_low(&options));
        assert!(low_below == 0 || free(low_below - 1).is_low(&options));
        assert!(free(room_from).has_room(&options));
        assert!(room_from == 0 || !free(room_from - 1).has_room(&options));
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
