//! The parameters of an algorithm: members of a JSON object, with HugeGraph's defaults, checks and words.

use serde_json::{Map, Value};

use crate::problem::Problem;

/// No limit, as HugeGraph writes it.
const NO_LIMIT: i64 = -1;
const TIMES_MAX: i64 = 2_048;

/// Which neighbours of a vertex an algorithm looks at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Direction {
    Out,
    In,
    Both,
}

impl Direction {
    /// As walks take it.
    pub(super) fn of_walks(self) -> traversals::Direction {
        match self {
            Self::Out => traversals::Direction::Out,
            Self::In => traversals::Direction::In,
            Self::Both => traversals::Direction::Both,
        }
    }

    /// As HugeGraph spells it inside names of members.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Out => "_out",
            Self::In => "_in",
            Self::Both => "",
        }
    }
}

/// Members that an algorithm does not have are passed over, as the original does.
pub(super) struct Parameters<'a>(pub(super) &'a Map<String, Value>);

impl Parameters<'_> {
    pub(super) fn none(&self) -> Result<(), Problem> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(Problem::illegal_argument(format!("Unnecessary parameters: {}", self.printed())))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Problem> {
        let Some(value) = self.0.get(name) else { return Ok(None) };
        match value.as_str() {
            Some(text) => Ok(Some(text.to_owned())),
            None => Err(self.expected("string", name, value)),
        }
    }

    pub(super) fn flag(&self, name: &str, default: bool) -> Result<bool, Problem> {
        let Some(value) = self.0.get(name) else { return Ok(default) };
        value.as_bool().ok_or_else(|| self.expected("boolean", name, value))
    }

    pub(super) fn whole(&self, name: &str) -> Result<Option<i64>, Problem> {
        let Some(value) = self.0.get(name) else { return Ok(None) };
        value.as_i64().map(Some).ok_or_else(|| self.expected("long", name, value))
    }

    pub(super) fn real(&self, name: &str) -> Result<Option<f64>, Problem> {
        let Some(value) = self.0.get(name) else { return Ok(None) };
        let number = value.as_f64().filter(|number| number.is_finite());
        number.map(Some).ok_or_else(|| self.expected("double", name, value))
    }

    /// `direction`, of those that the algorithm can take.
    pub(super) fn direction(&self, default: Direction) -> Result<Direction, Problem> {
        match self.text("direction")?.as_deref() {
            None => Ok(default),
            Some("OUT") => Ok(Direction::Out),
            Some("IN") => Ok(Direction::In),
            Some("BOTH") => Ok(Direction::Both),
            Some(other) => Err(Problem::illegal_argument(format!(
                "The value of direction must be in [OUT, IN, BOTH], but got '{other}'"
            ))),
        }
    }

    /// `direction` of an algorithm that walks edges one way.
    pub(super) fn one_direction(&self) -> Result<Direction, Problem> {
        match self.direction(Direction::Out)? {
            Direction::Both => Err(Problem::illegal_argument(
                "The value of direction must be either OUT or IN, but got: BOTH",
            )),
            direction => Ok(direction),
        }
    }

    /// How many edges of each vertex count, `degree`; `None`: all.
    pub(super) fn degree(&self) -> Result<Option<u32>, Problem> {
        self.positive_or_no_limit("degree", "max degree")
    }

    /// How many vertices are sources, `source_sample`; `None`: all.
    pub(super) fn source_sample(&self) -> Result<Option<u32>, Problem> {
        self.positive_or_no_limit("source_sample", "source_sample")
    }

    fn positive_or_no_limit(&self, name: &str, worded: &str) -> Result<Option<u32>, Problem> {
        match self.whole(name)? {
            None | Some(NO_LIMIT) => Ok(None),
            Some(number) if number > 0 => Ok(u32::try_from(number).ok()),
            Some(number) => Err(Problem::illegal_argument(format!(
                "The {worded} parameter must be > 0 or == {NO_LIMIT}, but got: {number}"
            ))),
        }
    }

    /// The most iterations: `times`, `stable_times`.
    pub(super) fn times(&self, name: &str, default: u32) -> Result<u32, Problem> {
        let Some(times) = self.whole(name)? else { return Ok(default) };
        if times > TIMES_MAX {
            return Err(Problem::illegal_argument(format!(
                "The maximum number of iterations is {TIMES_MAX}, but got {times}"
            )));
        }
        let most = u32::try_from(TIMES_MAX).expect("it is small");
        Ok(self.positive_or_no_limit(name, name)?.unwrap_or(most))
    }

    /// The change below which an algorithm ends, `precision`.
    pub(super) fn precision(&self) -> Result<f64, Problem> {
        match self.real("precision")? {
            None => Ok(0.001),
            Some(precision) if precision > 0.0 && precision < 1.0 => Ok(precision),
            Some(precision) => Err(Problem::illegal_argument(format!(
                "The precision parameter must be in range(0,1), but got: {precision}"
            ))),
        }
    }

    pub(super) fn alpha(&self) -> Result<f64, Problem> {
        match self.real("alpha")? {
            None => Ok(0.5),
            Some(alpha) if alpha > 0.0 && alpha <= 1.0 => Ok(alpha),
            Some(alpha) => Err(Problem::illegal_argument(format!(
                "The value of alpha must be in range (0, 1], but got {alpha}"
            ))),
        }
    }

    /// The steps of the longest path, `depth`, which must be given.
    pub(super) fn depth(&self) -> Result<u32, Problem> {
        let Some(depth) = self.whole("depth")? else {
            let message = format!("Expect 'depth' in parameters: {}", self.printed());
            return Err(Problem::illegal_argument(message));
        };
        match u32::try_from(depth) {
            Ok(depth) if depth > 0 => Ok(depth),
            Err(_) if depth > 0 => Ok(u32::MAX),
            _ => Err(Problem::illegal_argument(format!("The value of depth must be > 0, but got {depth}"))),
        }
    }

    /// The most of something; `None`: all.
    pub(super) fn limit(&self, name: &str, default: u64) -> Result<Option<u64>, Problem> {
        match self.whole(name)? {
            None => Ok(Some(default)),
            Some(NO_LIMIT) => Ok(None),
            Some(limit) => match u64::try_from(limit) {
                Ok(limit) => Ok(Some(limit)),
                Err(_) => Err(Problem::illegal_argument(format!(
                    "The {name} parameter must be >= 0 or == {NO_LIMIT}, but got: {limit}"
                ))),
            },
        }
    }

    /// A number above 0.
    pub(super) fn positive(&self, name: &str, default: i64) -> Result<i64, Problem> {
        match self.whole(name)? {
            None => Ok(default),
            Some(number) if number > 0 => Ok(number),
            Some(number) => {
                Err(Problem::illegal_argument(format!("The {name} parameter must be > 0, but got: {number}")))
            }
        }
    }

    /// How many vertices are shown, `top`.
    pub(super) fn top(&self) -> Result<Top, Problem> {
        match self.whole("top")? {
            None | Some(0) => Ok(Top::Unsorted),
            Some(NO_LIMIT) => Ok(Top::Sorted(usize::MAX)),
            Some(top) => match usize::try_from(top) {
                Ok(top) => Ok(Top::Sorted(top)),
                Err(_) => Err(Problem::illegal_argument(format!(
                    "The top parameter must be >= 0 or == {NO_LIMIT}, but got: {top}"
                ))),
            },
        }
    }

    /// `workers` is checked; how many threads work is our choice.
    pub(super) fn workers(&self, direction: Direction) -> Result<(), Problem> {
        let Some(workers) = self.whole("workers")? else { return Ok(()) };
        if workers < NO_LIMIT {
            return Err(Problem::illegal_argument(format!(
                "The workers parameter must be >= 0 or == {NO_LIMIT}, but got: {workers}"
            )));
        }
        if direction == Direction::Both || workers <= 0 {
            return Ok(());
        }
        Err(Problem::illegal_argument(format!(
            "The workers must be not set when direction!=BOTH, but got workers={workers} and direction={}",
            if direction == Direction::Out { "OUT" } else { "IN" }
        )))
    }

    fn expected(&self, kind: &str, name: &str, value: &Value) -> Problem {
        if value.is_null() {
            return Problem::illegal_argument(format!("Expect '{name}' in parameters: {}", self.printed()));
        }
        Problem::illegal_argument(format!("Expect {kind} value for parameter '{name}': '{value}'"))
    }

    fn printed(&self) -> String {
        serde_json::to_string(self.0).expect("JSON that was read can be written")
    }
}

/// How many of all vertices are shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Top {
    /// All, in the order of the graph.
    Unsorted,
    /// So many, those of the largest values first.
    Sorted(usize),
}
