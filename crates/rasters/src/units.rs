//! Units of values and the ways between them. Pure: where units are kept is the catalogue's business.

use std::collections::{HashMap, HashSet};

use crate::calendar::HOUR;
use lang_formula::Aggregation;

use strands::LimitExceeded;

use crate::Error;

/// The longest way from a unit to the last of its bases.
pub const UNIT_BASES_MAX: usize = 16;

/// The most units of a repository. All are in one row, and are checked together when one is changed.
pub const UNITS_MAX: usize = 4_096;

/// How values of a unit are put together when nobody says otherwise.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum UnitRule {
    /// A level, such as power: averaged; repeated on finer rasters.
    Average,
    /// An amount, such as energy: added up; shared out on finer rasters.
    Sum,
}

impl UnitRule {
    /// The aggregation of values of such a unit. Levels count by how long they hold: slots may differ in length.
    pub fn aggregation(self) -> Aggregation {
        match self {
            Self::Sum => Aggregation::Sum,
            Self::Average => Aggregation::TimeWeightedMean,
        }
    }
}

/// A unit: `value in base = (value + offset) * factor`.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// Its name, unique in its repository (`kWh`).
    pub name: Box<str>,
    /// The unit it is defined by; none if it has no base.
    pub base: Option<Box<str>>,
    /// Added on the way to the base, before the factor: degrees Fahrenheit have -32 and 5/9 to those Celsius.
    pub offset: f64,
    /// What one of it is in the base.
    pub factor: f64,
    /// The unit of this one held for an hour (`kW`: `kWh`).
    pub integral: Option<Box<str>>,
    /// How its values are put together.
    pub aggregation: UnitRule,
}

/// The units of a repository by name.
#[derive(Clone, Debug, Default)]
pub struct Units {
    by_name: HashMap<Box<str>, Unit>,
}

/// The way from one unit to another, worked out once and applied to many values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversion {
    before: Affine,
    hours: Hours,
    after: Affine,
}

/// What the length of a slot does to a value on its way.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Hours {
    Nothing,
    Times,
    Per,
}

/// `(value + before) * up / down + after`. Factors that are one over a whole number are kept as that number, so that
/// 1,500 W are 1.5 kW and not nearly so.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Affine {
    before: f64,
    up: f64,
    down: f64,
    after: f64,
}

/// A unit and the way there.
type Step<'a> = (&'a Unit, Affine);

impl Units {
    /// Units, each replacing those of its name before it.
    pub fn new(units: impl IntoIterator<Item = Unit>) -> Self {
        Self { by_name: units.into_iter().map(|unit| (unit.name.clone(), unit)).collect() }
    }

    /// The unit of a name.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if there is none.
    pub fn get(&self, name: &str) -> Result<&Unit, Error> {
        self.by_name.get(name).ok_or_else(|| Error::NotFound(format!("unit {name}").into()))
    }

    /// All units, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Unit> {
        self.by_name.values()
    }

    /// Adds a unit, or replaces the one of its name, if its numbers are sound and its bases and integral are there
    /// and lead back to nothing already passed. Cost: a few look-ups for each unit there is.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a factor that is 0 or no number, bases in a circle or more than [`UNIT_BASES_MAX`], and
    /// for a unit that would be converted to its own integral by a factor alone (kWh both base of kW and its integral);
    /// [`Error::NotFound`] for a base or integral that is not known; [`Error::Limit`] for more than [`UNITS_MAX`] units.
    /// Nothing is changed then.
    pub fn insert(&mut self, unit: Unit) -> Result<(), Error> {
        if !(unit.factor.is_finite() && unit.factor != 0.0 && unit.offset.is_finite()) {
            return Err(Error::Invalid(format!(
                "unit {}: factor and offset must be finite, and the factor not 0",
                unit.name
            )));
        }
        let name = unit.name.clone();
        let replaced = self.by_name.insert(name.clone(), unit);
        let checked = match replaced {
            None => LimitExceeded::check("UNITS_MAX", UNITS_MAX, self.by_name.len())
                .map_err(|limit| Error::Limit {
                    what: format!("unit {name}: units of a repository").into(),
                    limit,
                })
                .and_then(|()| self.check(&name)),
            Some(_) => self.check(&name),
        };
        if checked.is_err() {
            match replaced {
                Some(replaced) => self.by_name.insert(name, replaced),
                None => self.by_name.remove(&name),
            };
        }
        checked
    }

    fn check(&self, name: &str) -> Result<(), Error> {
        let unit = self.get(name)?;
        unit.integral.as_deref().map_or(Ok(()), |integral| self.get(integral).map(drop))?;
        let bases = self.bases(name)?;
        let (root, _) = bases.last().expect("a unit itself is the first of its bases");
        // A new base may bring other units to their integrals: all that lead to the same last base are looked at.
        self.check_integrals(&root.name, &self.roots())
    }

    /// Refuses levels of the family of `root` whose amounts lead back to levels of it: through bases alone, or through
    /// further integrals. What there was before led back to nothing, so only this family may. Cost: O(units).
    fn check_integrals(&self, root: &str, roots: &HashMap<&str, &str>) -> Result<(), Error> {
        let mut integrals: HashMap<&str, Vec<&Unit>> = HashMap::new();
        for unit in self.by_name.values().filter(|unit| unit.integral.is_some()) {
            if let Some(family) = roots.get(&*unit.name) {
                integrals.entry(family).or_default().push(unit);
            }
        }
        let family_of =
            |unit: &Unit| unit.integral.as_deref().and_then(|integral| roots.get(integral)).copied();
        let members = |family: &str| integrals.get(family).map_or(&[][..], Vec::as_slice);
        let mut seen = HashSet::new();
        for first in members(root) {
            let mut left: Vec<&str> = family_of(first).into_iter().collect();
            while let Some(family) = left.pop() {
                if family == root {
                    return Err(leads_back(first));
                }
                // What was seen on the way from another level did not lead back.
                if seen.insert(family) {
                    left.extend(members(family).iter().filter_map(|unit| family_of(unit)));
                }
            }
        }
        Ok(())
    }

    /// The last base of each unit: units with the same one differ by factor and offset. Those whose bases lead nowhere, or
    /// in a circle, have none. Cost: each unit is passed once.
    fn roots(&self) -> HashMap<&str, &str> {
        let mut roots: HashMap<&str, Option<&str>> = HashMap::with_capacity(self.by_name.len());
        let mut way = Vec::new();
        for unit in self.by_name.values() {
            let mut at = Some(unit);
            let root = loop {
                let Some(unit) = at else {
                    break None;
                };
                if let Some(known) = roots.get(&*unit.name) {
                    break *known;
                }
                // Until more is known, none: so a circle ends.
                roots.insert(&unit.name, None);
                way.push(&*unit.name);
                match unit.base.as_deref() {
                    None => break Some(&*unit.name),
                    Some(base) => at = self.by_name.get(base),
                }
            };
            roots.extend(way.drain(..).map(|name| (name, root)));
        }
        roots.into_iter().filter_map(|(name, root)| Some((name, root?))).collect()
    }

    /// The way from values of `from` to values of `to`: through their bases, or through the integral of a unit on the
    /// way (kW to MWh: kW, kWh, MWh). Cost: look-ups along the bases; nothing for equal names.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a unit that is not known, [`Error::Invalid`] for bases in a circle and for units
    /// with no way between them.
    pub fn conversion(&self, from: &str, to: &str) -> Result<Conversion, Error> {
        if from == to {
            return Ok(Conversion::IDENTITY);
        }
        let (sources, targets) = (self.bases(from)?, self.bases(to)?);
        if let Some(way) = joined(&sources, &targets) {
            return Ok(Conversion { before: way, ..Conversion::IDENTITY });
        }
        if let Some((before, after)) = self.integrated(&sources, &targets)? {
            return Ok(Conversion { before, hours: Hours::Times, after });
        }
        if let Some((before, after)) = self.integrated(&targets, &sources)? {
            return Ok(Conversion { before: after.inverse(), hours: Hours::Per, after: before.inverse() });
        }
        Err(Error::Invalid(format!("values of unit {from} cannot be told in unit {to}")))
    }

    /// The way from the first of `levels` to the first of `amounts` with the hours between: before and after them.
    fn integrated(
        &self,
        levels: &[Step<'_>],
        amounts: &[Step<'_>],
    ) -> Result<Option<(Affine, Affine)>, Error> {
        for (level, before) in levels {
            let Some(integral) = level.integral.as_deref() else {
                continue;
            };
            if let Some(after) = joined(&self.bases(integral)?, amounts) {
                return Ok(Some((*before, after)));
            }
        }
        Ok(None)
    }

    /// The unit and its bases, with the ways from it to each.
    fn bases(&self, name: &str) -> Result<Vec<Step<'_>>, Error> {
        let mut unit = self.get(name)?;
        let mut way = Affine::IDENTITY;
        let mut steps = vec![(unit, way)];
        while let Some(base) = unit.base.as_deref() {
            if steps.iter().any(|(passed, _)| *passed.name == *base) {
                return Err(Error::Invalid(format!("unit {name} is defined by itself, through {base}")));
            }
            LimitExceeded::check("UNIT_BASES_MAX", UNIT_BASES_MAX, steps.len())
                .map_err(|limit| Error::Limit { what: format!("unit {name}: bases").into(), limit })?;
            way = way.then(Affine::of(unit));
            unit = self.get(base)?;
            steps.push((unit, way));
        }
        Ok(steps)
    }
}

fn leads_back(unit: &Unit) -> Error {
    Error::Invalid(format!(
        "unit {}: its integral {} leads back to it: a unit and its integral must not be bases of one another, nor \
         integrals of one another",
        unit.name,
        unit.integral.as_deref().expect("what leads back is the integral")
    ))
}

/// The way from the first of `sources` to the first of `targets` through the nearest unit that both have.
fn joined(sources: &[Step<'_>], targets: &[Step<'_>]) -> Option<Affine> {
    sources.iter().find_map(|(source, forth)| {
        let (_, back) = targets.iter().find(|(target, _)| target.name == source.name)?;
        Some(forth.then(back.inverse()))
    })
}

impl Conversion {
    /// From a unit to itself.
    pub const IDENTITY: Self =
        Self { before: Affine::IDENTITY, hours: Hours::Nothing, after: Affine::IDENTITY };

    /// Whether every value stays as it is.
    pub fn is_identity(&self) -> bool {
        *self == Self::IDENTITY
    }

    /// Whether values depend on the length of their slots.
    pub fn is_by_hours(&self) -> bool {
        self.hours != Hours::Nothing
    }

    /// Whether levels become amounts.
    pub fn is_times_hours(&self) -> bool {
        self.hours == Hours::Times
    }

    /// Whether a sum is converted as each of its terms is, if all are of slots of one length.
    pub fn is_linear(&self) -> bool {
        self.before.is_linear() && self.after.is_linear()
    }

    /// The conversion in two: what must be done to values before they are put together, and what comes to the same (or
    /// nearer: fewer values are rounded) when it is done to what they come to.
    pub fn around(self, how: Aggregation) -> (Self, Self) {
        let last = if self.hours == Hours::Nothing { self.before } else { self.after };
        let commutes = match how {
            Aggregation::Count => return (Self::IDENTITY, Self::IDENTITY),
            Aggregation::Sum => last.is_linear(),
            Aggregation::Minimum | Aggregation::Maximum => last.up / last.down > 0.0,
            Aggregation::Average | Aggregation::First | Aggregation::Last | Aggregation::TimeWeightedMean => {
                true
            }
        };
        match (commutes, self.hours) {
            (false, _) => (self, Self::IDENTITY),
            (true, Hours::Nothing) => (Self::IDENTITY, self),
            (true, _) => {
                let after = Self { before: self.after, ..Self::IDENTITY };
                (Self { after: Affine::IDENTITY, ..self }, after)
            }
        }
    }

    /// A value of a slot of `length` nanoseconds in the other unit.
    pub fn apply(&self, value: f64, length: i64) -> f64 {
        let value = self.before.apply(value);
        let value = match self.hours {
            Hours::Nothing => value,
            Hours::Times => times_hours(value, length),
            Hours::Per => per_hours(value, length),
        };
        self.after.apply(value)
    }

    /// Converts values of slots of one `length`. Cost: about half a nanosecond each.
    pub fn apply_all(&self, values: &mut [f64], length: i64) {
        if self.is_identity() {
            return;
        }
        for value in values {
            *value = self.apply(*value, length);
        }
    }
}

/// Lengths that divide the hour divide, so that 0.3 kW for 20 minutes are 0.1 kWh and not nearly so.
#[expect(clippy::cast_precision_loss, reason = "hours of slots are small or rounded once")]
fn times_hours(value: f64, length: i64) -> f64 {
    match length {
        _ if length % HOUR == 0 => value * (length / HOUR) as f64,
        _ if length > 0 && HOUR % length == 0 => value / (HOUR / length) as f64,
        _ => value * (length as f64 / HOUR as f64),
    }
}

#[expect(clippy::cast_precision_loss, reason = "hours of slots are small or rounded once")]
fn per_hours(value: f64, length: i64) -> f64 {
    match length {
        _ if length % HOUR == 0 => value / (length / HOUR) as f64,
        _ if length > 0 && HOUR % length == 0 => value * (HOUR / length) as f64,
        _ => value / (length as f64 / HOUR as f64),
    }
}

impl Affine {
    const IDENTITY: Self = Self { before: 0.0, up: 1.0, down: 1.0, after: 0.0 };

    /// From a unit to its base.
    fn of(unit: &Unit) -> Self {
        let inverse = (1.0 / unit.factor).round();
        let is_one_over = inverse.abs() > 1.0 && (1.0 / inverse).to_bits() == unit.factor.to_bits();
        let (up, down) = if is_one_over { (1.0, inverse) } else { (unit.factor, 1.0) };
        Self { before: unit.offset, up, down, after: 0.0 }
    }

    fn apply(self, value: f64) -> f64 {
        (value + self.before) * self.up / self.down + self.after
    }

    /// Whether nothing is added on the way.
    fn is_linear(self) -> bool {
        self.before == 0.0 && self.after == 0.0
    }

    fn then(self, next: Self) -> Self {
        let between = self.after + next.before;
        let after = if between == 0.0 { next.after } else { between * next.up / next.down + next.after };
        Self { before: self.before, up: self.up * next.up, down: self.down * next.down, after }.reduced()
    }

    fn inverse(self) -> Self {
        Self { before: -self.after, up: self.down, down: self.up, after: -self.before }
    }

    /// The same with one of the factors 1, if the other is then exact.
    fn reduced(self) -> Self {
        if self.up % self.down == 0.0 {
            return Self { up: self.up / self.down, down: 1.0, ..self };
        }
        if self.down % self.up == 0.0 {
            return Self { up: 1.0, down: self.down / self.up, ..self };
        }
        self
    }
}

#[cfg(test)]
mod tests;
