//! The rows of the family as data, and the forms in which each of them runs.

use serde::Deserialize;

use crate::profile::Profile;
use crate::workloads::Named;

/// What a row does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Writes fresh series.
    Write,
    /// Reads series that are there.
    Read,
    /// Overwrites a share of each day of series that are there, then reads them: the compression table.
    Overwrite,
}

impl Work {
    /// Its name in workload files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::Overwrite => "overwrite",
        }
    }
}

/// How points travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Form {
    /// JSON, one object a point.
    #[default]
    Rows,
    /// JSON, the values of a series as one array on its raster.
    Compact,
    /// An Arrow IPC stream.
    Arrow,
}

impl Form {
    /// The end of the names of rows in this form.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Rows => "",
            Self::Compact => "-compact",
            Self::Arrow => "-arrow",
        }
    }

    /// The media type of bodies in this form.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Rows | Self::Compact => "application/json",
            Self::Arrow => "application/vnd.apache.arrow.stream",
        }
    }
}

/// Which values of a day an overwrite takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pattern {
    /// The first ones.
    #[default]
    Contiguous,
    /// Some here and there, evenly.
    Scattered,
}

/// What was published: the wall clock of the whole job.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedJob {
    /// Under which licence, with how many servers.
    pub licence: String,
    /// The seconds.
    pub seconds: f64,
}

/// One line of the published compression table, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedLine {
    /// Overwriting compressed series.
    pub write: f64,
    /// Overwriting series that are not compressed.
    pub write_raw: f64,
    /// Reading compressed series.
    pub read: f64,
    /// Reading series that are not compressed.
    pub read_raw: f64,
}

/// One row: a job, its size and form, and what was published for it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its name in all reports.
    pub id: String,
    /// What it does.
    pub work: Work,
    /// Series of all users together.
    pub series: usize,
    /// Points of each series.
    pub values: usize,
    /// The raster.
    pub minutes: u32,
    /// Series of a request.
    pub request_series: usize,
    /// Parallel jobs, or parallel requests.
    pub users: usize,
    /// Worker threads of the server; `None`: its default.
    #[serde(default)]
    pub workers: Option<usize>,
    /// The overwritten share of each day.
    #[serde(default)]
    pub percent: usize,
    /// The published jobs; the first is the one compared with.
    #[serde(default)]
    pub published: Vec<PublishedJob>,
    /// The published line of the compression table.
    #[serde(default)]
    pub table: Option<PublishedLine>,
    /// How its points travel.
    #[serde(skip)]
    pub form: Form,
    /// Which values it overwrites.
    #[serde(skip)]
    pub pattern: Pattern,
}

impl Row {
    /// Points of the whole job.
    pub fn points(&self) -> usize {
        self.series * self.values
    }

    /// Its series at the size of `profile`, and those of each of its requests: every user keeps a request at least.
    pub fn sizes(&self, profile: Profile) -> (usize, usize) {
        let points_max = match profile {
            Profile::Smoke => 300_000,
            Profile::Short => 7_200_000,
            Profile::Full => usize::MAX,
        };
        let series = self.series.min(points_max / self.values.max(1)).max(self.users);
        let share = series.div_ceil(self.users.max(1));
        (series, self.request_series.min(share))
    }

    /// This row in all its forms.
    pub fn expanded(self) -> Vec<Self> {
        const WHOLE: &[Pattern] = &[Pattern::Contiguous];
        const BOTH: &[Pattern] = &[Pattern::Contiguous, Pattern::Scattered];
        let (forms, patterns): (&[Form], _) = match self.work {
            // Compact bodies cannot leave values out.
            Work::Overwrite if self.percent < 100 => (&[Form::Rows, Form::Arrow], BOTH),
            Work::Overwrite => (&[Form::Rows, Form::Arrow], WHOLE),
            Work::Write | Work::Read => (&[Form::Rows, Form::Compact, Form::Arrow], WHOLE),
        };
        let mut rows = Vec::new();
        for pattern in patterns {
            let scattered = if *pattern == Pattern::Scattered { "-scattered" } else { "" };
            rows.extend(forms.iter().map(|form| Self {
                id: format!("{}{scattered}{}", self.id, form.ending()),
                form: *form,
                pattern: *pattern,
                ..self.clone()
            }));
        }
        rows
    }
}

impl Named for Row {
    fn id(&self) -> &str {
        &self.id
    }
}

#[cfg(test)]
mod tests {
    use crate::hakom::tests::selected;
    use crate::profile::Profile;

    #[test]
    fn rows_are_named_by_how_they_begin() {
        let rows = selected("");
        let check = |names: &str, expected: &[&str]| rows.check_named(names, expected);
        check("H-W1", &["H-W1", "H-W1-compact", "H-W1-arrow"]);
        check("h-w1-ARROW", &["H-W1-arrow"]);
        check("H-C100", &["H-C100", "H-C100-arrow"]);
        check("H-C75", &["H-C75", "H-C75-arrow", "H-C75-scattered", "H-C75-scattered-arrow"]);
        assert_eq!(rows.rows.len(), 14 * 3 + 3 * 4 + 2);
    }

    #[test]
    fn the_published_jobs_are_those_of_the_page() {
        let rows = selected("").rows;
        let rate = |id: &str, place: usize| {
            let row = rows.iter().find(|row| row.id == id).unwrap();
            (row.points() as f64 / row.published[place].seconds).round()
        };
        assert_eq!(rate("H-W1", 0), 196_364.0);
        assert_eq!(rate("H-R1-arrow", 0), 310_345.0);
        assert_eq!(rate("H-PR", 0), 327_273.0);
        assert_eq!(rate("H-PW", 0), 180_000.0);
        assert_eq!((rate("H-SW", 0), rate("H-SW", 1)), (271_682.0, 107_635.0));
        assert_eq!((rate("H-BW-2", 0), rate("H-BW-2", 2)), (303_333.0, 113_006.0));
        assert_eq!((rate("H-BR-1", 0), rate("H-BR-1", 1)), (556_886.0, 417_567.0));
        let line = |id: &str| rows.iter().find(|row| row.id == id).unwrap().table.unwrap();
        assert_eq!((line("H-C75").write, line("H-C75").write_raw), (1.519, 1.514));
        assert_eq!(line("H-C100-arrow").read_raw, 0.995);
    }

    #[test]
    fn full_is_as_published_and_the_others_are_smaller_but_for_users() {
        for row in &selected("").rows {
            let wanted = row.series.div_ceil(row.request_series).max(row.users);
            assert_eq!(row.sizes(Profile::Full).0, row.series, "{}", row.id);
            assert!(row.series.div_ceil(row.sizes(Profile::Full).1) <= wanted, "{}", row.id);
            for profile in [Profile::Smoke, Profile::Short] {
                let (series, request) = row.sizes(profile);
                assert!(series <= row.series && request <= row.request_series, "{}", row.id);
                assert!(series.div_ceil(request) >= row.users, "{}: every user has a request", row.id);
            }
        }
    }
}
