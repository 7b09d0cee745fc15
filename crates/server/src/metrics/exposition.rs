//! The page of metrics as text.

use std::fmt::Write as _;

/// Text in the Prometheus exposition format.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    pub(crate) text: String,
}

impl Exposition {
    /// Begins a family of samples.
    pub(crate) fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// One sample; `labels` may be empty.
    pub(crate) fn sample(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        let _ = if labels.is_empty() {
            writeln!(self.text, "{name} {value}")
        } else {
            writeln!(self.text, "{name}{{{labels}}} {value}")
        };
    }

    /// A family of one gauge.
    pub(crate) fn gauge(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.family(name, "gauge", help);
        self.sample(name, "", value);
    }

    /// A family of one counter.
    pub(crate) fn counter(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.family(name, "counter", help);
        self.sample(name, "", value);
    }
}
