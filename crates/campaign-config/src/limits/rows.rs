//! The rows of the family as data.

use anyhow::Result;
use campaign::profile::Profile;
use campaign::workloads::{Named, Workload};
use serde::Deserialize;

use super::devices::DEVICE_NODES;
pub use crate::cps::rows::Mode;

/// Anchors of a thousand devices that are read and queried.
pub const ANCHORS: u64 = 3;
/// How much smaller the smallest profile is.
const SMOKE: u64 = 20;
/// The most of a thing that has thousands, in the short profile.
const SHORT_MAX: u64 = 1_000;

/// How much of each node is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Descendants {
    /// Its leaves.
    None,
    /// And its children.
    Direct,
    /// And all below it.
    All,
}

impl Descendants {
    /// As a query has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Direct => "direct",
            Self::All => "all",
        }
    }
}

/// What a path finds among devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finds {
    /// The container of all devices.
    Top,
    /// Each device.
    Devices,
    /// Nothing.
    Nothing,
}

impl Finds {
    /// Data nodes of an answer about so many devices.
    pub fn nodes(self, devices: u64, descendants: Descendants) -> u64 {
        match (self, descendants) {
            (Self::Nothing, _) => 0,
            (Self::Top, Descendants::None) => 1,
            (Self::Top, Descendants::Direct) => 1 + devices,
            (Self::Top, Descendants::All) => 1 + devices * DEVICE_NODES,
            (Self::Devices, Descendants::None) => devices,
            (Self::Devices, Descendants::Direct) => 2 * devices,
            (Self::Devices, Descendants::All) => devices * DEVICE_NODES,
        }
    }
}

/// By what devices are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// There were none.
    Fill,
    /// By themselves.
    Same,
    /// By themselves with other leaves.
    Leaves,
    /// By others.
    Others,
    /// Half of them by others.
    Half,
    /// By nothing.
    Empty,
    /// By one of them.
    One,
}

/// Which part of each device is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The container in it.
    Container,
    /// The device itself.
    Element,
    /// The list of its degrees.
    List,
}

/// What a job does.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Work {
    /// Creates anchors, each with its share of the devices.
    CreateAnchors {
        /// How many.
        anchors: u64,
    },
    /// Writes a container of devices.
    Save,
    /// Adds devices to a list.
    SaveList,
    /// Writes books.
    Books,
    /// Adds books, a hundred a request.
    BookBatches,
    /// Deletes books.
    DeleteBooks,
    /// Reads an anchor.
    Read {
        /// Where.
        xpath: String,
        /// How much.
        descendants: Descendants,
        /// What is there.
        finds: Finds,
    },
    /// Queries an anchor.
    Query {
        /// What.
        cps_path: String,
        /// How much.
        descendants: Descendants,
        /// What is there.
        finds: Finds,
    },
    /// Queries all anchors.
    QueryAll {
        /// What.
        cps_path: String,
        /// How much.
        descendants: Descendants,
        /// What is there.
        finds: Finds,
    },
    /// Asks for the values of a leaf.
    Values {
        /// Of which.
        cps_path: String,
        /// How many there are: of each device one, or so many.
        values: Option<u64>,
    },
    /// Replaces the container of devices.
    ReplaceContainer {
        /// By what.
        change: Change,
    },
    /// Replaces the list of devices.
    ReplaceList {
        /// By what.
        change: Change,
    },
    /// Changes leaves of half of the devices.
    UpdateLeaves,
    /// Deletes anchors with their share of the devices.
    DeleteAnchors {
        /// How many.
        anchors: u64,
    },
    /// Deletes parts of a hundred of 300 devices, one after the other.
    DeleteParts {
        /// Which.
        part: Part,
    },
    /// Deletes everything below a path.
    DeleteAll {
        /// Which; nothing: the request names no path, which stands for all data of the anchor.
        xpath: Option<String>,
    },
    /// Compares an anchor of 300 devices with one of a thousand, ten times; without descendants, one device of each.
    Delta {
        /// How much.
        descendants: Descendants,
        /// Whether what lies below one node is told once.
        grouping: bool,
    },
    /// Compares an anchor with a tree that is sent.
    DeltaJson {
        /// Whether what lies below one node is told once.
        grouping: bool,
    },
    /// Applies a difference.
    DeltaApply,
    /// Creates schema sets, and an anchor of each.
    SchemaSets,
    /// Reads many paths at once.
    ReadMany {
        /// Whether there is something at them.
        there: bool,
    },
    /// Deletes many paths at once.
    DeleteMany {
        /// Which part of each device; nothing: paths where nothing is.
        part: Option<Part>,
    },
    /// Reads the text of paths.
    Parse,
}

/// One row: a job, and the seconds that it is expected to take.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its name in all reports.
    pub id: String,
    /// What it is called.
    pub test: String,
    /// How the job reaches the server.
    #[serde(default = "remote")]
    pub mode: Mode,
    /// What it does.
    pub work: Work,
    /// How many things it does it to.
    pub items: u64,
    /// What they are.
    #[serde(default = "of_devices")]
    pub of: String,
    /// Expected seconds.
    pub expected: f64,
    /// How often it is done in a run, so that it can be timed.
    #[serde(default = "once")]
    pub repeat: usize,
}

fn remote() -> Mode {
    Mode::Remote
}

fn of_devices() -> String {
    "devices".to_owned()
}

fn once() -> usize {
    1
}

impl Row {
    /// How many things it does it to in `profile`.
    pub fn count(&self, profile: Profile) -> u64 {
        scaled(self.items, profile, self.work == Work::SchemaSets)
    }
}

/// A published number at the size of `profile`.
pub fn scaled(items: u64, profile: Profile, short_too: bool) -> u64 {
    match profile {
        Profile::Smoke => (items / SMOKE).max(items.min(5)),
        Profile::Short if short_too => items.min(SHORT_MAX),
        Profile::Short | Profile::Full => items,
    }
}

impl Named for Row {
    fn id(&self) -> &str {
        &self.id
    }
}

/// The rows of `mode`, as a family `name`.
///
/// # Errors
///
/// If the workload file is not as it should be, which a test excludes.
pub fn workload(name: &str, mode: Mode) -> Result<Workload<Row>> {
    let mut workload: Workload<Row> = Workload::parse(include_str!("../../workloads/cps-limits.toml"))?;
    workload.rows.retain(|row| row.mode == mode);
    name.clone_into(&mut workload.name);
    if mode == Mode::Embedded {
        workload.title.push_str(", in process");
    }
    Ok(workload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_names_of_their_own_and_an_expectation() {
        let mut all = workload("a", Mode::Remote).unwrap().rows;
        assert!(all.len() > 60, "{}", all.len());
        all.extend(workload("b", Mode::Embedded).unwrap().rows);
        let names: std::collections::BTreeSet<&str> = all.iter().map(Named::id).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.iter().all(|row| row.expected > 0.0 && row.items > 0 && row.repeat > 0));
    }

    #[test]
    fn sizes_are_those_published_but_for_the_smallest_profile() {
        assert_eq!(scaled(1_000, Profile::Full, false), 1_000);
        assert_eq!((scaled(1_000, Profile::Smoke, false), scaled(3, Profile::Smoke, false)), (50, 3));
        assert_eq!(
            (scaled(10_000, Profile::Short, true), scaled(10_000, Profile::Short, false)),
            (1_000, 10_000)
        );
        assert_eq!(Finds::Top.nodes(1_000, Descendants::All), 86_001);
        assert_eq!(Finds::Devices.nodes(1_000, Descendants::Direct), 2_000);
    }
}
