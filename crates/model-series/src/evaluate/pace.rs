//! Long reads let others run.

/// Points after which work should let others run, and how many of them are worth one of the steps that a task may do in a row: a
/// point is some 100 ns of work, as steps of [`store::Pace`] are.
const SLICE_POINTS: usize = 8_192;
const STEP_POINTS: usize = 64;

/// Lets other tasks run, if they are due, after work on so many points.
pub(super) async fn rest_after(points: usize) {
    for _ in 0..=points.min(SLICE_POINTS) / STEP_POINTS {
        tokio::task::coop::consume_budget().await;
    }
}
