//! The jobs: what must be there before, the requests that are timed, what must be true behind them.

use anyhow::{Context as _, Result, bail};
use campaign::profile::Profile;
use yang_samples::Module;

use super::checks::{Check, Difference, delta_path};
use super::devices::{self, CHANGED, DEVICE_NODES, DEVICES, FRESH, SHELF, container, device, leaves, list};
use super::rows::{ANCHORS, Change, Descendants, Part, Row, Work, scaled};
use crate::rest::{self, Cps, Dataspace, HEADERS};
use crate::script::{Draft, Script};

/// The schema sets of the dataspaces.
const DEVICE_SET: &str = "devices";
const BOOK_SET: &str = "books";
/// Devices of an anchor that is read, whole or in parts.
const ANCHOR_DEVICES: u64 = 1_000;
/// Devices of an anchor of which something is deleted.
const DELETE_DEVICES: u64 = 300;
/// Devices of the source of a difference.
const SOURCE_DEVICES: u64 = 300;
/// Books of a request.
const BATCH: u64 = 100;
/// How often a difference is asked for, as published.
const DELTAS: usize = 10;
/// The device whose difference is asked for, where it is that of one.
const DELTA_DEVICE: u64 = 1;

/// A server with dataspaces for the jobs.
#[derive(Debug)]
pub struct Stand {
    /// Anchors that jobs write.
    pub(super) work: Dataspace,
    /// Anchors that are only read.
    stock: Dataspace,
    /// Whether these are there.
    has_stock: bool,
    /// Whether the two anchors of differences are there.
    has_difference: bool,
    /// Jobs so far: their anchors have names of their own.
    jobs: u64,
    /// The last job's requests, for the floor.
    pub(super) last: Option<Script>,
}

/// One job.
pub(super) struct Job {
    pub(super) script: Script,
    /// Where its checks look.
    pub(super) dataspace: Dataspace,
    pub(super) checks: Vec<Check>,
    /// Anchors that are deleted behind it.
    pub(super) leftovers: Vec<String>,
}

impl Stand {
    /// The dataspaces and schema sets of the jobs.
    ///
    /// # Errors
    ///
    /// If the server refuses them.
    pub(super) fn new(cps: &mut Cps, seed: u64) -> Result<Self> {
        let named = |name: &str| Dataspace { name: format!("campaign-{name}-{seed}") };
        let (work, stock) = (named("limits"), named("stock"));
        for dataspace in [&work, &stock] {
            cps.create_dataspace(dataspace).context("creating a dataspace")?;
            for (name, text) in [(DEVICE_SET, yang_samples::DEVICES), (BOOK_SET, yang_samples::BOOKS)] {
                let module = Module::named(&format!("campaign-{name}"), text);
                cps.create_schema_set(dataspace, name, &[module]).context("uploading a module")?;
            }
        }
        Ok(Self { work, stock, has_stock: false, has_difference: false, jobs: 0, last: None })
    }

    /// Prepares the next job of `row`.
    ///
    /// # Errors
    ///
    /// If the server refuses what must be there before.
    pub(super) fn job(&mut self, cps: &mut Cps, row: &Row, profile: Profile) -> Result<Job> {
        self.jobs += 1;
        let name = format!("{}-{}", row.id, self.jobs);
        let count = row.count(profile);
        let mut maker = Maker { cps, stand: self, name, count, profile };
        let mut job = maker.job(row)?;
        job.script.repeat = row.repeat;
        self.last = Some(job.script.clone());
        Ok(job)
    }
}

/// Makes one job.
struct Maker<'a> {
    cps: &'a mut Cps,
    stand: &'a mut Stand,
    name: String,
    count: u64,
    profile: Profile,
}

impl Maker<'_> {
    fn job(&mut self, row: &Row) -> Result<Job> {
        let count = self.count;
        match &row.work {
            Work::CreateAnchors { anchors } => self.create_anchors(*anchors),
            Work::DeleteAnchors { anchors } => self.delete_anchors(*anchors),
            Work::Save => self.save("nodes"),
            Work::SaveList => self.save("list-nodes"),
            Work::Books => self.books(),
            Work::BookBatches => self.book_batches(),
            Work::DeleteBooks => self.delete_books(),
            Work::Read { xpath, descendants, finds } => {
                self.stock()?;
                let path = self.stand.stock.read("stock-0", xpath, descendants.name());
                Ok(self.reading(path, Check::Found(finds.nodes(count, *descendants))))
            }
            Work::Query { cps_path, descendants, finds } => {
                self.stock()?;
                let path = self.stand.stock.query("stock-0", cps_path, descendants.name());
                Ok(self.reading(path, Check::Found(finds.nodes(count, *descendants))))
            }
            Work::QueryAll { cps_path, descendants, finds } => {
                let each = self.stock()?;
                let path = self.stand.stock.query_all(cps_path, descendants.name());
                let nodes = ANCHORS * finds.nodes(each, *descendants);
                Ok(self.reading(path, Check::FoundOverAnchors(nodes)))
            }
            Work::Values { cps_path, values } => {
                self.stock()?;
                let path = self.stand.stock.query("stock-0", cps_path, "none");
                Ok(self.reading(path, Check::Values(values.unwrap_or(count))))
            }
            Work::ReplaceContainer { change } => self.replace(*change, true),
            Work::ReplaceList { change } => self.replace(*change, false),
            Work::UpdateLeaves => self.update_leaves(),
            Work::DeleteParts { part } => self.delete_parts(*part),
            Work::DeleteAll { xpath } => self.delete_all(xpath.as_deref()),
            Work::Delta { descendants, grouping } => self.delta(*descendants, *grouping),
            Work::DeltaJson { grouping } => self.delta_json(*grouping),
            Work::DeltaApply => self.delta_apply(),
            Work::SchemaSets => self.schema_sets(),
            Work::ReadMany { .. } | Work::DeleteMany { .. } | Work::Parse => {
                bail!("{} is not a job over HTTP", row.id)
            }
        }
    }

    /// An anchor of this job, with `tree` in it if there is one.
    fn anchor(&mut self, set: &str, tree: Option<&[u8]>) -> Result<String> {
        let (work, name) = (&self.stand.work, &self.name);
        self.cps.send("POST", &work.new_anchor(set, name), b"", 201).context("creating an anchor")?;
        if let Some(tree) = tree {
            let path = format!("{}/nodes", work.anchor(name));
            self.cps.send("POST", &path, tree, 201).context("filling an anchor")?;
        }
        Ok(name.clone())
    }

    fn written(&self, drafts: Vec<Draft>, anchor: String, nodes: u64) -> Job {
        Job {
            checks: vec![Check::Stored { anchor: anchor.clone(), nodes }],
            ..self.done(drafts, vec![anchor])
        }
    }

    fn done(&self, drafts: Vec<Draft>, leftovers: Vec<String>) -> Job {
        let script = Script { headers: HEADERS.to_owned(), drafts: drafts.into(), repeat: 1 };
        Job { script, dataspace: self.stand.work.clone(), checks: Vec::new(), leftovers }
    }

    fn reading(&self, path: String, check: Check) -> Job {
        let job = self.done(vec![Draft::new("GET", path, 200)], Vec::new());
        Job { dataspace: self.stand.stock.clone(), checks: vec![check], ..job }
    }

    /// The anchors that are read; the number of their devices.
    fn stock(&mut self) -> Result<u64> {
        let each = scaled(ANCHOR_DEVICES, self.profile, false);
        if self.stand.has_stock {
            return Ok(each);
        }
        let (stock, tree) = (&self.stand.stock, container(0..each, FRESH));
        for number in 0..ANCHORS {
            let anchor = format!("stock-{number}");
            self.cps.send("POST", &stock.new_anchor(DEVICE_SET, &anchor), b"", 201)?;
            self.cps.send("POST", &format!("{}/nodes", stock.anchor(&anchor)), &tree, 201)?;
        }
        self.stand.has_stock = true;
        Ok(each)
    }

    /// How many devices each of several anchors has.
    fn shares(&self, anchors: u64) -> u64 {
        (self.count / anchors).max(1)
    }

    fn create_anchors(&mut self, anchors: u64) -> Result<Job> {
        let each = self.shares(anchors);
        let tree = container(0..each, FRESH);
        let work = &self.stand.work;
        let (mut drafts, mut checks, mut leftovers) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..anchors {
            let anchor = format!("{}-{number}", self.name);
            drafts.push(Draft::new("POST", work.new_anchor(DEVICE_SET, &anchor), 201));
            let nodes = format!("{}/nodes", work.anchor(&anchor));
            drafts.push(Draft::new("POST", nodes, 201).with(tree.clone()));
            checks.push(Check::Stored { anchor: anchor.clone(), nodes: devices::nodes(each) });
            leftovers.push(anchor);
        }
        Ok(Job { checks, ..self.done(drafts, leftovers) })
    }

    fn delete_anchors(&mut self, anchors: u64) -> Result<Job> {
        let prefix = self.name.clone();
        let tree = container(0..self.shares(anchors), FRESH);
        let mut drafts = Vec::new();
        for number in 0..anchors {
            self.name = format!("{prefix}-{number}");
            let anchor = self.anchor(DEVICE_SET, Some(&tree))?;
            drafts.push(Draft::new("DELETE", self.stand.work.anchor(&anchor), 204));
        }
        let checks = vec![Check::Anchors { prefix: format!("{prefix}-"), count: 0 }];
        Ok(Job { checks, ..self.done(drafts, Vec::new()) })
    }

    fn save(&mut self, what: &str) -> Result<Job> {
        let of_list = what == "list-nodes";
        let empty = container(0..0, FRESH);
        let anchor = self.anchor(DEVICE_SET, of_list.then_some(empty.as_slice()))?;
        let work = &self.stand.work;
        let (path, body) = if of_list {
            (work.write(&anchor, what, DEVICES), fresh_list(0..self.count))
        } else {
            (format!("{}/{what}", work.anchor(&anchor)), container(0..self.count, FRESH))
        };
        let draft = Draft::new("POST", path, 201).with(body);
        Ok(self.written(vec![draft], anchor, devices::nodes(self.count)))
    }

    fn books(&mut self) -> Result<Job> {
        let anchor = self.anchor(BOOK_SET, None)?;
        let path = format!("{}/nodes", self.stand.work.anchor(&anchor));
        let draft = Draft::new("POST", path, 201).with(devices::shop(0..self.count));
        Ok(self.written(vec![draft], anchor, 2 + self.count))
    }

    fn book_batches(&mut self) -> Result<Job> {
        let anchor = self.anchor(BOOK_SET, Some(&devices::shop(0..0)))?;
        let path = self.stand.work.write(&anchor, "list-nodes", SHELF);
        let batches = (0..self.count).step_by(usize::try_from(BATCH)?);
        let draft = |first: u64| {
            let books = devices::books(first..(first + BATCH).min(self.count));
            Draft::new("POST", path.clone(), 201).with(books.into_bytes())
        };
        Ok(self.written(batches.map(draft).collect(), anchor, 2 + self.count))
    }

    fn delete_books(&mut self) -> Result<Job> {
        let anchor = self.anchor(BOOK_SET, Some(&devices::shop(0..self.count)))?;
        let path = self.stand.work.write(&anchor, "nodes", &format!("{SHELF}/books"));
        Ok(self.written(vec![Draft::new("DELETE", path, 204)], anchor, 2))
    }

    fn replace(&mut self, change: Change, whole: bool) -> Result<Job> {
        let count = self.count;
        let before = if change == Change::Fill { 0 } else { count };
        let anchor = self.anchor(DEVICE_SET, Some(&container(0..before, FRESH)))?;
        let (numbers, state) = match change {
            Change::Fill | Change::Same => (0..count, FRESH),
            Change::Leaves => (0..count, CHANGED),
            Change::Others => (count..2 * count, FRESH),
            Change::Half => (count / 2..count / 2 + count, FRESH),
            Change::Empty => (0..0, FRESH),
            Change::One => (0..1, FRESH),
        };
        let after = numbers.end - numbers.start;
        let (last, work) = (numbers.clone().next_back(), &self.stand.work);
        let (path, body) = if whole {
            (work.write(&anchor, "nodes", "/"), container(numbers, state))
        } else {
            let body = list(numbers, |number, out| device(number, state, out));
            (work.write(&anchor, "list-nodes", DEVICES), body.into_bytes())
        };
        let draft = Draft::new("PUT", path, 200).with(body);
        let mut job = self.written(vec![draft], anchor.clone(), devices::nodes(after));
        // The last one is there, with the leaves that it was sent with.
        job.checks.extend(last.map(|last| Check::Query {
            anchor,
            cps_path: format!(
                "//openroadm-device[@device-id='{}' and @status='{}']",
                devices::device_id(last),
                state.status
            ),
            nodes: 1,
        }));
        Ok(job)
    }

    fn update_leaves(&mut self) -> Result<Job> {
        let anchor = self.anchor(DEVICE_SET, Some(&container(0..2 * self.count, FRESH)))?;
        let path = self.stand.work.write(&anchor, "nodes", DEVICES);
        let body = list(0..self.count, |number, out| leaves(number, CHANGED, out));
        let draft = Draft::new("PATCH", path, 200).with(body.into_bytes());
        let mut job = self.written(vec![draft], anchor.clone(), devices::nodes(2 * self.count));
        let cps_path = format!("//openroadm-device[@status='{}']", CHANGED.status);
        job.checks.push(Check::Query { anchor, cps_path, nodes: self.count });
        Ok(job)
    }

    fn delete_parts(&mut self, part: Part) -> Result<Job> {
        let all = scaled(DELETE_DEVICES, self.profile, false);
        let anchor = self.anchor(DEVICE_SET, Some(&container(0..all, FRESH)))?;
        let path = |number: u64| {
            let device = devices::device_path(number);
            match part {
                Part::Element => device,
                Part::Container => format!("{device}/org-openroadm-device"),
                Part::List => format!("{device}/org-openroadm-device/degree"),
            }
        };
        let work = &self.stand.work;
        let delete = |number| Draft::new("DELETE", work.write(&anchor, "nodes", &path(number)), 204);
        let drafts = (0..self.count).map(delete).collect();
        let gone = match part {
            Part::Element => DEVICE_NODES,
            Part::Container => DEVICE_NODES - 1,
            Part::List => DEVICE_NODES - 2,
        };
        Ok(self.written(drafts, anchor, devices::nodes(all) - self.count * gone))
    }

    fn delete_all(&mut self, xpath: Option<&str>) -> Result<Job> {
        let anchor = self.anchor(DEVICE_SET, Some(&container(0..self.count, FRESH)))?;
        let work = &self.stand.work;
        let path = match xpath {
            Some(xpath) => work.write(&anchor, "nodes", xpath),
            None => format!("{}/nodes", work.anchor(&anchor)),
        };
        Ok(self.written(vec![Draft::new("DELETE", path, 204)], anchor, 0))
    }

    /// The anchors whose difference is asked for, and how many devices each has.
    fn difference(&mut self) -> Result<(u64, u64)> {
        let (old, new) =
            (scaled(SOURCE_DEVICES, self.profile, false), scaled(ANCHOR_DEVICES, self.profile, false));
        if !self.stand.has_difference {
            let name = std::mem::replace(&mut self.name, "delta-source".to_owned());
            self.anchor(DEVICE_SET, Some(&container(0..old, FRESH)))?;
            "delta-target".clone_into(&mut self.name);
            self.anchor(DEVICE_SET, Some(&container(0..new, CHANGED)))?;
            self.name = name;
            self.stand.has_difference = true;
        }
        Ok((old, new))
    }

    fn delta(&mut self, descendants: Descendants, grouping: bool) -> Result<Job> {
        let (old, new) = self.difference()?;
        let work = &self.stand.work;
        // The container has no leaves: without descendants there is a difference in a device alone, as published.
        let xpath = match descendants {
            Descendants::None => devices::device_path(DELTA_DEVICE),
            Descendants::Direct | Descendants::All => DEVICES.to_owned(),
        };
        let anchors = ("delta-source", "delta-target");
        let path = delta_path(work, anchors, &xpath, descendants.name(), grouping);
        let difference = match descendants {
            Descendants::None => Difference { replaced: 1, created: (old, old), each: None },
            Descendants::Direct => {
                Difference { replaced: old, created: (old, new), each: (!grouping).then_some(1) }
            }
            Descendants::All => {
                Difference { replaced: old, created: (old, new), each: (!grouping).then_some(DEVICE_NODES) }
            }
        };
        let drafts = vec![Draft::new("GET", path, 200); DELTAS];
        Ok(Job { checks: vec![Check::Difference(difference)], ..self.done(drafts, Vec::new()) })
    }

    fn delta_json(&mut self, grouping: bool) -> Result<Job> {
        let (old, new) = self.difference()?;
        let anchor = self.stand.work.anchor("delta-source");
        let path = format!("{anchor}/delta?xpath={DEVICES}&grouping-enabled={grouping}");
        let body = rest::part("targetData", "target.json", &container(0..new, CHANGED));
        let each = (!grouping).then_some(DEVICE_NODES);
        let difference = Difference { replaced: old, created: (old, new), each };
        let mut job = self.done(vec![Draft::new("POST", path, 200).with(body)], Vec::new());
        job.script.headers = rest::upload_headers();
        Ok(Job { checks: vec![Check::Difference(difference)], ..job })
    }

    fn delta_apply(&mut self) -> Result<Job> {
        let (old, new) = self.difference()?;
        let source = self.anchor(DEVICE_SET, Some(&container(0..old, FRESH)))?;
        let (work, target) = (&self.stand.work, "delta-target".to_owned());
        let report =
            self.cps.send("GET", &delta_path(work, (&source, &target), DEVICES, "all", true), b"", 200)?;
        let path = format!("{}/applyChangesInDeltaReport", work.anchor(&source));
        let draft = Draft::new("POST", path, 201).with(report);
        let mut job = self.written(vec![draft], source.clone(), devices::nodes(new));
        job.checks.push(Check::Same { source, target });
        Ok(job)
    }

    /// Each with a module of its own.
    fn schema_sets(&mut self) -> Result<Job> {
        let work = &self.stand.work;
        let mut drafts = Vec::new();
        for number in 0..self.count {
            let name = format!("{}-{number}", self.name.to_lowercase());
            let text = yang_samples::TABLE.replace("campaign-table", &name);
            let body = rest::upload(&[Module::named(&name, &text)])?;
            drafts.push(Draft::new("POST", rest::schema_set_path(work, &name), 201).with(body));
            drafts.push(Draft::new("POST", work.new_anchor(&name, &name), 201));
        }
        let prefix = format!("{}-", self.name.to_lowercase());
        let leftovers = (0..self.count).map(|number| format!("{prefix}{number}")).collect();
        let mut job = self.done(drafts, leftovers);
        job.script.headers = rest::upload_headers();
        Ok(Job { checks: vec![Check::Anchors { prefix, count: self.count }], ..job })
    }
}

fn fresh_list(numbers: std::ops::Range<u64>) -> Vec<u8> {
    list(numbers, |number, out| device(number, FRESH, out)).into_bytes()
}
