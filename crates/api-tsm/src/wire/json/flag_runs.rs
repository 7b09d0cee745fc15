//! Flags of the compact form, which follow all values: kept as runs of equal ones, in bounded memory.

use lang_json::{Buffer as _, Commas, write_string};

use crate::wire::{NO_POINT, flags};

/// The most runs that are kept: a mebibyte.
const RUNS_MAX: usize = 64 * 1024;

/// The flags of the slots of a series.
#[derive(Clone, Default)]
pub(crate) struct FlagRuns {
    /// Flag bytes, and how many slots each has; none are kept once there were more than [`RUNS_MAX`].
    runs: Vec<(u8, u64)>,
    overflowed: bool,
    /// Whether a slot has another flag than Valid, or no point.
    is_needed: bool,
    slots: u64,
    /// Runs, and slots in all, that were written; and the commas between those.
    runs_written: usize,
    written: u64,
    commas: Commas,
}

impl FlagRuns {
    /// Begins anew.
    pub(crate) fn clear(&mut self) {
        let mut runs = std::mem::take(&mut self.runs);
        runs.clear();
        *self = Self { runs, ..Self::default() };
    }

    /// Appends the flags of the next slots. Cost: some nanoseconds a run.
    pub(crate) fn extend(&mut self, flags: &[u8]) {
        for run in flags.chunk_by(|one, other| one == other) {
            let Some(flag) = run.first() else { continue };
            let count = run.len() as u64;
            self.slots += count;
            self.is_needed |= *flag != flags::VALID;
            let kept = self.runs.len();
            match self.runs.last_mut() {
                _ if self.overflowed => {}
                Some((last, slots)) if last == flag => *slots += count,
                _ if kept < RUNS_MAX => self.runs.push((*flag, count)),
                _ => {
                    self.overflowed = true;
                    self.runs = Vec::new();
                }
            }
        }
    }

    /// Whether the flags must be written: not if all are Valid.
    pub(crate) fn is_needed(&self) -> bool {
        self.is_needed
    }

    /// Whether there were too many runs to keep: the flags must be [handed over again](FlagRuns::write_again).
    pub(crate) fn is_overflowed(&self) -> bool {
        self.overflowed
    }

    /// Writes flags that are kept, until about `bytes_max` bytes were written; answers whether some are left.
    pub(crate) fn write(&mut self, out: &mut Vec<u8>, bytes_max: usize) -> bool {
        let end = out.len().saturating_add(bytes_max);
        while let Some((flag, count)) = self.runs.get_mut(self.runs_written) {
            let flag = *flag;
            while *count > 0 {
                if out.len() >= end {
                    return true;
                }
                *count -= 1;
                write_flag(out, &mut self.commas, flag);
                self.written += 1;
            }
            self.runs_written += 1;
        }
        false
    }

    /// Writes flags that were not kept.
    pub(crate) fn write_again(&mut self, out: &mut Vec<u8>, flags: &[u8]) {
        for flag in flags {
            write_flag(out, &mut self.commas, *flag);
            self.written += 1;
        }
    }

    /// Whether each slot's flag was written, and no more.
    pub(crate) fn is_complete(&self) -> bool {
        self.written == self.slots
    }
}

fn write_flag(out: &mut Vec<u8>, commas: &mut Commas, flag: u8) {
    commas.next(out);
    match flags::name(flag).filter(|_| flag != NO_POINT) {
        Some(name) => write_string(out, name),
        None => out.put("null"),
    }
}

#[cfg(test)]
mod tests {
    use model_series::ABSENT;

    use super::*;

    /// The flags as they are written, `bytes_max` at a time, or again.
    fn text(flags: &[u8], bytes_max: usize) -> String {
        let mut runs = FlagRuns::default();
        for part in flags.chunks(1_000) {
            runs.extend(part);
        }
        let mut out = Vec::new();
        if runs.is_overflowed() {
            assert!(runs.runs.capacity() == 0, "what is not used is not kept");
            for part in flags.chunks(777) {
                runs.write_again(&mut out, part);
            }
        } else {
            loop {
                let before = out.len();
                let more = runs.write(&mut out, bytes_max);
                assert!(out.len() - before < bytes_max.saturating_add(32));
                if !more {
                    break;
                }
            }
        }
        assert!(runs.is_complete());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn runs_are_written_as_the_flags_they_are_of() {
        let flags = [3, 3, 8 | ABSENT, NO_POINT, NO_POINT, 5, 3];
        let expected = r#""Valid","Valid","Missing",null,null,"Estimated","Valid""#;
        for bytes_max in [1, 7, usize::MAX] {
            assert_eq!(text(&flags, bytes_max), expected);
        }
        assert_eq!(text(&[], 10), "");
    }

    #[test]
    fn more_runs_than_are_kept_are_written_again() {
        let few: Vec<u8> = (0..RUNS_MAX).map(|place| if place % 2 == 0 { 3 } else { 5 }).collect();
        let many: Vec<u8> = few.iter().copied().chain([3, 5, 5]).collect();
        let of_few = text(&few, 100);
        assert_eq!(text(&many, 100), of_few + r#","Valid","Estimated","Estimated""#);
        let mut runs = FlagRuns::default();
        runs.extend(&many);
        assert!(runs.is_overflowed() && runs.is_needed());
        runs.clear();
        runs.extend(&[3; 10]);
        assert!(!runs.is_overflowed() && !runs.is_needed());
    }
}
