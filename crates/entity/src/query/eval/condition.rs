//! A filter's tree of conditions, made ready: whether it holds of a whole entity, or of the pieces of one that are shown to it.

use super::{Track, Visible, Walk};
use crate::query::Filter;
use crate::query::value::Test;
use crate::{EntityView, TermId};

/// A condition, or several of them, made ready.
#[derive(Debug)]
pub(super) enum Condition {
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Exists(Track),
    Missing(Track),
    Compare { track: Track, test: Test, negated: bool },
}

/// What was shown of a condition on one path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Leaf {
    /// The path led somewhere.
    somewhere: bool,
    /// To something that passed the test (without its negation).
    passed: bool,
}

impl Condition {
    pub(super) fn new(filter: &Filter) -> Self {
        let nodes = |parts: &[Filter]| parts.iter().map(Self::new).collect();
        match filter {
            Filter::And(parts) => Self::And(nodes(parts)),
            Filter::Or(parts) => Self::Or(nodes(parts)),
            Filter::Exists(path) => Self::Exists(Track::new(path)),
            Filter::Missing(path) => Self::Missing(Track::new(path)),
            Filter::Compare(path, comparison, operand) => {
                let (test, negated) = Test::new(*comparison, operand);
                Self::Compare { track: Track::new(path), test, negated }
            }
        }
    }

    pub(super) fn links(&self) -> bool {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().any(Self::links),
            Self::Exists(track) | Self::Missing(track) | Self::Compare { track, .. } => {
                track.linked.is_some()
            }
        }
    }

    pub(super) fn holds(&self, entity: &EntityView<'_>, view: &Visible, walk: &mut Walk<'_>) -> bool {
        match self {
            Self::And(parts) => parts.iter().all(|part| part.holds(entity, view, walk)),
            Self::Or(parts) => parts.iter().any(|part| part.holds(entity, view, walk)),
            Self::Exists(track) => track.each(entity, view, walk, &mut |_| true),
            Self::Missing(track) => !track.each(entity, view, walk, &mut |_| true),
            Self::Compare { track, test, negated: false } => {
                track.each(entity, view, walk, &mut |target| test.holds(target))
            }
            Self::Compare { track, test, negated: true } => {
                let mut somewhere = false;
                let passed = track.each(entity, view, walk, &mut |target| {
                    somewhere |= test.applies(target);
                    test.holds(target)
                });
                somewhere && !passed
            }
        }
    }

    pub(super) fn leaves(&self) -> usize {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().map(Self::leaves).sum(),
            Self::Exists(_) | Self::Missing(_) | Self::Compare { .. } => 1,
        }
    }

    /// Takes in a piece of an entity. Cost: that of [`Self::holds`]; nothing where it was met already.
    pub(super) fn show(
        &self,
        piece: &EntityView<'_>,
        view: &Visible,
        walk: &mut Walk<'_>,
        leaves: &mut std::slice::IterMut<'_, Leaf>,
    ) {
        if let Self::And(parts) | Self::Or(parts) = self {
            parts.iter().for_each(|part| part.show(piece, view, walk, leaves));
            return;
        }
        let leaf = leaves.next().expect("there is a leaf for each condition");
        if leaf.passed {
            return;
        }
        match self {
            Self::And(_) | Self::Or(_) => {}
            Self::Exists(track) | Self::Missing(track) => {
                leaf.passed = track.each(piece, view, walk, &mut |_| true);
            }
            Self::Compare { track, test, .. } => {
                let mut somewhere = false;
                leaf.passed = track.each(piece, view, walk, &mut |target| {
                    somewhere |= test.applies(target);
                    test.holds(target)
                });
                leaf.somewhere |= somewhere;
            }
        }
    }

    pub(super) fn verdict(
        &self,
        leaves: &mut std::slice::Iter<'_, Leaf>,
        is_over: &dyn Fn(TermId) -> bool,
    ) -> Option<bool> {
        let over = |track: &Track| track.nowhere || track.attribute.is_none_or(is_over);
        match self {
            // All parts, so that leaves are counted on.
            Self::And(parts) => {
                let mut verdict = Some(true);
                for part in parts {
                    verdict = all(verdict, part.verdict(leaves, is_over));
                }
                verdict
            }
            Self::Or(parts) => {
                let mut verdict = Some(false);
                for part in parts {
                    verdict = any(verdict, part.verdict(leaves, is_over));
                }
                verdict
            }
            Self::Exists(track) | Self::Compare { track, negated: false, .. } => {
                decided(next(leaves).passed, over(track))
            }
            Self::Missing(track) => decided(next(leaves).passed, over(track)).map(|holds| !holds),
            Self::Compare { track, negated: true, .. } => {
                let leaf = next(leaves);
                decided(leaf.passed, over(track)).map(|holds| !holds && leaf.somewhere)
            }
        }
    }

    pub(super) fn wants(&self, leaves: &mut std::slice::Iter<'_, Leaf>, attribute: TermId) -> bool {
        match self {
            Self::And(parts) | Self::Or(parts) => {
                let mut wants = false;
                for part in parts {
                    wants |= part.wants(leaves, attribute);
                }
                wants
            }
            Self::Exists(track) | Self::Missing(track) | Self::Compare { track, .. } => {
                let passed = next(leaves).passed;
                !passed && !track.nowhere && track.attribute == Some(attribute)
            }
        }
    }
}

fn next(leaves: &mut std::slice::Iter<'_, Leaf>) -> Leaf {
    *leaves.next().expect("there is a leaf for each condition")
}

/// A condition that holds of all pieces if it holds of one.
pub(super) fn decided(holds: bool, is_over: bool) -> Option<bool> {
    if holds { Some(true) } else { Some(false).filter(|_| is_over) }
}

pub(super) fn all(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn any(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    all(one.map(|one| !one), other.map(|other| !other)).map(|none| !none)
}
