//! How often the identities of a set are derived from each other: a schema has, of each, all that it is derived from, and the
//! engine walks from each to all that are derived from it, once for each of its bases. It is counted before.

use std::collections::{HashMap, HashSet};

use crate::statement::Statements;

use super::prefixes::Prefixes;
use super::{CompileError, ModuleSet};

/// Identities of a set.
pub const IDENTITIES_MAX: usize = 20_000;
/// Of all `base` statements of identities, identities that one derives from its base: that which has it, and what is derived
/// from that.
pub const DERIVATIONS_MAX: usize = 200_000;

/// One identity; those of several revisions of a module are one.
#[derive(Debug, Default)]
struct Identity {
    /// Its `base` statements.
    bases: usize,
    /// Those that name it as their base.
    derived: Vec<u32>,
}

/// All identities that a set names.
#[derive(Debug, Default)]
struct Identities {
    numbers: HashMap<Box<str>, u32>,
    all: Vec<Identity>,
}

/// Counts the identities of a set. Cost: linear in the texts, and in the limits.
///
/// # Errors
///
/// More than the limits, with the file at which it is.
pub(super) fn check(set: &ModuleSet<'_>) -> Result<(), CompileError> {
    let mut identities = Identities::default();
    let mut bases = 0_usize;
    for member in &set.members {
        let fails = |message: String| CompileError::at(&member.file.name, None, message);
        let mut prefixes = Prefixes::new(member);
        let mut own = None;
        for statement in Statements::new(&member.file.text).map_while(Result::ok) {
            prefixes.see(&statement);
            match (statement.keyword, statement.depth, own) {
                ("identity", 1, _) => own = Some(identities.number(prefixes.resolve(statement.text()))),
                ("base", 2, Some(own)) => {
                    bases += 1;
                    let base = identities.number(prefixes.resolve(statement.text()));
                    identities.identity(own).bases += 1;
                    identities.identity(base).derived.push(own);
                }
                (_, 1, _) => own = None,
                _ => {}
            }
            if identities.all.len() > IDENTITIES_MAX {
                return Err(fails(format!("with it the modules have more than {IDENTITIES_MAX} identities")));
            }
            if bases > DERIVATIONS_MAX {
                return Err(fails(too_many()));
            }
        }
    }
    identities.count()
}

fn too_many() -> String {
    format!("identities are derived from each other more than {DERIVATIONS_MAX} times, in all steps together")
}

impl Identities {
    fn number(&mut self, (module, name): (&str, &str)) -> u32 {
        let full: Box<str> = format!("{module}:{name}").into();
        let next = u32::try_from(self.all.len()).expect("there are at most IDENTITIES_MAX and two more");
        let number = *self.numbers.entry(full).or_insert(next);
        if number == next {
            self.all.push(Identity::default());
        }
        number
    }

    fn identity(&mut self, number: u32) -> &mut Identity {
        self.all.get_mut(number as usize).expect("identities have numbers of this table")
    }

    /// Every step is counted, so that no more are taken than are allowed.
    fn count(&self) -> Result<(), CompileError> {
        let mut sum = 0_usize;
        for (number, identity) in (0..).zip(&self.all).filter(|(_, identity)| identity.bases > 0) {
            let mut found: HashSet<u32> = HashSet::new();
            let (mut pending, mut steps) = (vec![number], 1_usize);
            while let Some(next) = pending.pop() {
                let derived = self.all.get(next as usize).map_or(&[][..], |next| &next.derived);
                steps += derived.len();
                if sum.saturating_add(steps.saturating_mul(identity.bases)) > DERIVATIONS_MAX {
                    return Err(CompileError::of_set(too_many()));
                }
                pending.extend(derived.iter().copied().filter(|derived| found.insert(*derived)));
            }
            sum += steps * identity.bases;
        }
        Ok(())
    }
}
