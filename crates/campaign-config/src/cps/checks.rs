//! Whether a load did what it was answered to have done: trees that flows read back, and that nothing is left of them.

use anyhow::{Context as _, Result, ensure};
use campaign::findings::Findings;

use super::flows::Sample;
use super::inputs::Inputs;
use crate::rest::{Cps, Dataspace, parsed};
use crate::tree;

/// Compares trees read back with what must be there; `ordered`: in the order in which they were sent.
pub(super) fn read_back(inputs: &Inputs, samples: &[Sample], ordered: bool, findings: &mut Findings) {
    for Sample { mark, body } in samples {
        findings.note(tree_is(inputs, *mark, body, ordered).with_context(|| format!("read back {mark}")));
    }
}

fn tree_is(inputs: &Inputs, mark: u64, body: &[u8], ordered: bool) -> Result<()> {
    let answer = parsed(body)?;
    let trees = answer.as_array().context("the answer is no list of trees")?;
    let [tree] = trees.as_slice() else { anyhow::bail!("{} trees, there is one", trees.len()) };
    tree::same(tree, &inputs.expected(mark), ordered)
}

/// All anchors whose names begin with `prefix` must be gone.
pub(super) fn nothing_left(cps: &mut Cps, dataspace: &Dataspace, prefix: &str, findings: &mut Findings) {
    let begins = format!("{prefix}-");
    let checked = cps.anchors(dataspace).and_then(|anchors| {
        let left: Vec<_> = anchors.iter().filter(|anchor| anchor.starts_with(&begins)).collect();
        let first = left.first().map_or("", |first| first.as_str());
        ensure!(
            left.is_empty(),
            "{} anchors were deleted and are still there, {first} among them",
            left.len()
        );
        Ok(())
    });
    findings.note(checked);
}
