//! The rows of the family as data, and the forms in which each of them runs.

use serde::{Deserialize, Serialize};

use crate::workloads::Named;

/// What a row does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Writes fresh series.
    Write,
    /// Reads series that are there.
    Read,
    /// Overwrites a share of each day of series that are there, then reads them: the compression table.
    Overwrite,
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
