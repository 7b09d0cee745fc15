//! What the server carries at once: memory, long work, and how large answers may be.

use crate::units::{ByteCount, Span};

use super::table::{Field, Table, above_zero, at_least_one, settings_table};

settings_table! {
    /// What the server carries at once: memory, long work, and how large answers may be.
    pub(crate) struct Load, table "load", flags "", heading "Load" {
        /// Memory for all bodies and answers together, small ones not counted; beyond it: 503
        memory_bytes_max: ByteCount = "1GiB", "SIZE";

        /// How long a body waits for a part of that memory
        memory_wait_duration_max: Span = "5s", "SPAN";

        /// The largest answer, as it is sent; a larger one breaks off
        answer_bytes_max: ByteCount = "64GiB", "SIZE";

        /// How long an answer may take from its first byte to its last; a longer one breaks off
        answer_duration_max: Span = "1h", "SPAN";

        /// Threads for long work (long queries, large bodies and pages); 0: as many as serve
        long_work_threads: usize = "0", "COUNT";

        /// Address for health and metrics alone, in plain HTTP; they are served at `listen`, too
        health_listen: String = none, "ADDR";
    }
}

impl Load {
    /// Checks the values, and that they fit together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        at_least_one(&[("answer_bytes_max", self.answer_bytes_max.as_usize())])?;
        above_zero(&[("answer_duration_max", self.answer_duration_max)])
    }

    /// Threads for long work where so many serve.
    pub(crate) fn threads(&self, serving: usize) -> usize {
        match self.long_work_threads {
            0 => serving,
            threads => threads,
        }
    }
}
