//! Settings of what the server carries at once: memory, long work, and how large answers may be.

use clap::Args;

use crate::units::{ByteCount, Span};

/// The load that is carried; what is beyond is refused with an answer that says so.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Load")]
pub(crate) struct Load {
    /// Memory for all bodies and answers together, small ones not counted; beyond it: 503
    #[arg(long, env = "TWINFOLD_MEMORY_BYTES_MAX", value_name = "SIZE", default_value = "1GiB")]
    pub(crate) memory_bytes_max: ByteCount,

    /// How long a body waits for a part of that memory
    #[arg(long, env = "TWINFOLD_MEMORY_WAIT_DURATION_MAX", value_name = "SPAN", default_value = "5s")]
    pub(crate) memory_wait_duration_max: Span,

    /// A page of entities ends with the entity that makes it so large, as they are stored
    #[arg(long, env = "TWINFOLD_PAGE_BYTES_MAX", value_name = "SIZE", default_value = "16MiB")]
    pub(crate) page_bytes_max: ByteCount,

    /// The largest answer, as it is sent; a larger one breaks off
    #[arg(long, env = "TWINFOLD_ANSWER_BYTES_MAX", value_name = "SIZE", default_value = "64GiB")]
    pub(crate) answer_bytes_max: ByteCount,

    /// How long an answer may take from its first byte to its last; a longer one breaks off
    #[arg(long, env = "TWINFOLD_ANSWER_DURATION_MAX", value_name = "SPAN", default_value = "1h")]
    pub(crate) answer_duration_max: Span,

    /// Threads for long work (long queries, large bodies and pages); 0: as many as serve
    #[arg(long, env = "TWINFOLD_LONG_WORK_THREADS", value_name = "COUNT", default_value = "0")]
    pub(crate) long_work_threads: usize,

    /// The most values in the lists of a query's `q`
    #[arg(long, env = "TWINFOLD_Q_VALUES_MAX", value_name = "COUNT", default_value = "10000")]
    pub(crate) q_values_max: usize,

    /// The most positions of a geometry to query with
    #[arg(long, env = "TWINFOLD_GEO_POSITIONS_MAX", value_name = "COUNT", default_value = "10000")]
    pub(crate) geo_positions_max: usize,

    /// Address for health and metrics alone, in plain HTTP; they are served at `listen`, too
    #[arg(long, env = "TWINFOLD_HEALTH_LISTEN", value_name = "ADDR")]
    pub(crate) health_listen: Option<String>,
}

impl Load {
    /// Checks what no single value can tell.
    ///
    /// # Errors
    ///
    /// What does not fit, and how to mend it.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        for (name, count) in [
            ("page_bytes_max", self.page_bytes_max.as_usize()),
            ("answer_bytes_max", self.answer_bytes_max.as_usize()),
            ("q_values_max", self.q_values_max),
            ("geo_positions_max", self.geo_positions_max),
        ] {
            anyhow::ensure!(count > 0, "{name} must be at least 1");
        }
        anyhow::ensure!(!self.answer_duration_max.0.is_zero(), "answer_duration_max must be above 0");
        Ok(())
    }

    /// Threads for long work where so many serve.
    pub(crate) fn threads(&self, serving: usize) -> usize {
        match self.long_work_threads {
            0 => serving,
            threads => threads,
        }
    }
}
