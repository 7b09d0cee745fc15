//! Running algorithms over whole graphs, one after the other.

use super::job::{Job, ONE, When};

/// Tasks that this process made, and those that an earlier one left.
pub(super) const JOB: Job = Job {
    name: "server/graph-algorithms",
    when: When::Always { count: ONE, run: |work| Box::pin(work.algorithms.run()) },
};
