//! What a person sees while a campaign runs: bars with a live rate on a terminal, plain lines elsewhere.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::executors::Pulse;

/// How often a plain line is written.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Progress of one stage: a setup, a loop, a floor.
#[derive(Debug)]
pub struct Stage {
    name: String,
    bar: ProgressBar,
    plain: bool,
    length: Option<u64>,
    begun: Instant,
    shown: Instant,
    shown_done: u64,
}

impl Stage {
    /// A stage of `length` calls; `None`: it ends by time.
    pub fn begin(name: &str, length: Option<u64>) -> Self {
        let plain = !std::io::stderr().is_terminal();
        let target = if plain { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(5) };
        let bar = ProgressBar::with_draw_target(length, target);
        let template = match length {
            Some(_) => "{prefix:<24} {bar:30} {pos}/{len}  {msg}  {elapsed} (left {eta})",
            None => "{prefix:<24} {spinner} {pos}  {msg}  {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(name.to_owned());
        let begun = Instant::now();
        Self { name: name.to_owned(), bar, plain, length, begun, shown: begun, shown_done: 0 }
    }

    /// Shows how far the stage is.
    pub fn tick(&mut self, pulse: &Pulse) {
        let (now, done) = (Instant::now(), pulse.done());
        let every = if self.plain { LINE_EVERY } else { Duration::from_millis(500) };
        let since = now - self.shown;
        if since >= every {
            let rate = done.saturating_sub(self.shown_done) as f64 / since.as_secs_f64();
            let message = format!("{rate:.0}/s, {} errors", pulse.errors());
            if self.plain {
                let of = self.length.map_or(String::new(), |length| format!(" of {length}"));
                let seconds = self.begun.elapsed().as_secs();
                note(&format!("{}: {done}{of}, {message}, {seconds} s", self.name));
            } else {
                self.bar.set_message(message);
            }
            (self.shown, self.shown_done) = (now, done);
        }
        self.bar.set_position(done);
    }

    /// Ends the stage with a line that stays.
    pub fn end(self, line: &str) {
        self.bar.finish_and_clear();
        note(&format!("{}: {line}", self.name));
    }
}

/// Writes a line to the person watching; one who stopped watching is no error.
pub fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
