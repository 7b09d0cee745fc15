//! References to series: `[name, offset, unit, aggregation]`.

use std::fmt;

use crate::{Aggregation, Offset};

/// A series as a formula sees it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Reference {
    /// The name of the series.
    pub name: Box<str>,
    /// The value of a slot is that of the slot this much later (negative: earlier).
    pub offset: Option<Offset>,
    /// The unit its values are converted to; its own if none is given.
    pub unit: Option<Box<str>>,
    /// How its values are put together on a coarser raster; by the rule of its unit if none is given.
    pub aggregation: Option<Aggregation>,
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = self.offset.map(|offset| offset.to_string());
        let unit = self.unit.as_deref().map(quoted);
        let fields = [offset.as_deref(), unit.as_deref(), self.aggregation.map(Aggregation::name)];
        let count = fields.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        write!(f, "[{}", quoted(&self.name))?;
        for field in fields.iter().take(count) {
            f.write_str(",")?;
            if let Some(field) = field {
                write!(f, " {field}")?;
            }
        }
        f.write_str("]")
    }
}

/// The text as it is written between brackets: in quotes if it needs them.
fn quoted(text: &str) -> String {
    let is_plain = !text.contains([',', '[', ']', '"']) && text.trim() == text && !text.is_empty();
    if is_plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}
