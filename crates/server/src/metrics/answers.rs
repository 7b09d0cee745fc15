//! What became of large answers.

use super::table::counters;

counters! {
    /// What became of large answers.
    pub(crate) struct AnswerCounters {
        cut: "twinfold_answers_cut_total", "Answers cut off beyond answer_bytes_max or answer_duration_max.";
        streams_broken: "twinfold_streams_broken_total", "Streamed answers that failed on the way.";
        streams_stalled: "twinfold_streams_stalled_total", "Large answers cut off beyond stall_duration_max.";
    }
}
