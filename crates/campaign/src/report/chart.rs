//! Charts as inline SVG, drawn here: a page must show them without any network.

use std::fmt::Write as _;

use super::RowReport;
use super::table::number;
use crate::usage::UsagePoint;

const WIDTH: f64 = 760.0;
const OURS: &str = "#0b6e4f";
const PUBLISHED: &str = "#c0392b";
const FLOOR: &str = "#8a93a0";
const MEMORY: &str = "#2c5aa0";
const LINES: [&str; 8] =
    ["#0b6e4f", "#c0392b", "#2c5aa0", "#b8860b", "#7d3c98", "#117a8b", "#5d6d7e", "#a04000"];

/// Text for HTML and SVG.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn text(out: &mut String, (x, y): (f64, f64), anchor: &str, content: &str) {
    let content = escape(content);
    let _ = write!(out, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{content}</text>"#);
}

fn line(out: &mut String, from: (f64, f64), to: (f64, f64)) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let _ = write!(out, r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" class="grid"/>"#);
}

fn svg(width: f64, height: f64, title: &str, content: &str) -> String {
    format!(
        r#"<svg viewBox="0 0 {width:.0} {height:.0}" role="img" aria-label="{}">{content}</svg>"#,
        escape(title)
    )
}

/// A logarithmic axis over whole decades.
struct Decades {
    low: i32,
    high: i32,
    from: f64,
    to: f64,
}

impl Decades {
    fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite() && *value > 0.0) {
            (low, high) = (low.min(value.log10()), high.max(value.log10()));
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let low = rounded(low.floor());
        Self { low, high: rounded(high.ceil()).max(low + 1), from, to }
    }

    fn place(&self, value: f64) -> f64 {
        let span = f64::from(self.high - self.low);
        let share = (value.max(f64::MIN_POSITIVE).log10() - f64::from(self.low)) / span;
        self.from + (self.to - self.from) * share.clamp(0.0, 1.0)
    }

    fn marks(&self) -> impl Iterator<Item = f64> {
        (self.low..=self.high).map(|power| 10_f64.powi(power))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "logarithms of figures are small whole numbers here")]
fn rounded(value: f64) -> i32 {
    value.clamp(-12.0, 15.0) as i32
}

/// Ours, published and floor of each row as bars on a logarithmic scale.
pub fn throughput(rows: &[RowReport]) -> String {
    const ROW: f64 = 46.0;
    const LABELS: f64 = 150.0;
    let height = 40.0 + ROW * rows.len() as f64;
    let all = rows.iter().flat_map(|row| {
        let published = row.published.as_ref().map_or(0.0, |published| published.throughput);
        [row.throughput, published, row.floor_throughput.unwrap_or(0.0)]
    });
    let axis = Decades::over(all, LABELS, WIDTH - 80.0);
    let mut out = String::new();
    for mark in axis.marks() {
        let x = axis.place(mark);
        line(&mut out, (x, 20.0), (x, height - 10.0));
        text(&mut out, (x, 14.0), "middle", &number(mark));
    }
    for (place, row) in rows.iter().enumerate() {
        let top = 28.0 + ROW * place as f64;
        text(&mut out, (LABELS - 8.0, top + 22.0), "end", &row.id);
        let published = row.published.as_ref().map(|published| published.throughput);
        let bars = [(Some(row.throughput), OURS), (published, PUBLISHED), (row.floor_throughput, FLOOR)];
        for (bar, (value, colour)) in bars.into_iter().enumerate() {
            let Some(value) = value.filter(|value| *value > 0.0) else { continue };
            let (y, length) = (top + 12.0 * bar as f64, axis.place(value) - axis.from);
            let x = axis.from;
            let _ = write!(
                out,
                r#"<rect x="{x:.1}" y="{y:.1}" width="{length:.1}" height="10" fill="{colour}"/>"#
            );
            text(&mut out, (x + length + 4.0, y + 9.0), "start", &number(value));
        }
    }
    svg(WIDTH, height, "rates a second, logarithmic", &out)
}

/// The names of the colours of [`throughput`].
pub fn throughput_legend() -> String {
    let entry = |colour: &str, name: &str| format!(r#"<span style="color:{colour}">■</span> {name} "#);
    [entry(OURS, "ours"), entry(PUBLISHED, "published (other hardware)"), entry(FLOOR, "floor")].concat()
}

/// Latency over percentile of some rows: the further right, the rarer.
pub fn percentiles(rows: &[&RowReport]) -> String {
    const HEIGHT: f64 = 320.0;
    let values = rows.iter().flat_map(|row| row.curve.iter().map(|(_, milliseconds)| *milliseconds));
    let y_axis = Decades::over(values, HEIGHT - 30.0, 12.0);
    let rarity = |percent: f64| 1.0 / (1.0 - percent.min(99.995) / 100.0);
    let x_axis = Decades::over([1.0, 20_000.0].into_iter(), 60.0, WIDTH - 70.0);
    let mut out = String::new();
    for mark in y_axis.marks() {
        line(&mut out, (60.0, y_axis.place(mark)), (WIDTH - 70.0, y_axis.place(mark)));
        text(&mut out, (54.0, y_axis.place(mark) + 4.0), "end", &format!("{mark} ms"));
    }
    for percent in [50.0, 90.0, 99.0, 99.9, 99.99] {
        let x = x_axis.place(rarity(percent));
        line(&mut out, (x, 12.0), (x, HEIGHT - 30.0));
        text(&mut out, (x, HEIGHT - 14.0), "middle", &format!("p{percent}"));
    }
    for (row, colour) in rows.iter().zip(LINES.iter().cycle()) {
        let points: Vec<String> = row
            .curve
            .iter()
            .map(|(percent, ms)| format!("{:.1},{:.1}", x_axis.place(rarity(*percent)), y_axis.place(*ms)))
            .collect();
        let _ = write!(out, r#"<polyline points="{}" fill="none" stroke="{colour}"/>"#, points.join(" "));
        if let Some((_, last)) = row.curve.last() {
            let _ = write!(out, r#"<g fill="{colour}">"#);
            text(&mut out, (WIDTH - 66.0, y_axis.place(*last) + 4.0), "start", &row.id);
            out.push_str("</g>");
        }
    }
    svg(WIDTH, HEIGHT, "latency by percentile", &out)
}

/// Successes of each second of a row's first run. The last second is left out if there are others: it is
/// seldom a whole one.
pub fn over_time(row: &RowReport) -> String {
    const HEIGHT: f64 = 110.0;
    let whole = match row.seconds.len() {
        0 | 1 => row.seconds.len(),
        more => more - 1,
    };
    let counts: Vec<u64> = row.seconds.iter().take(whole).map(|second| second.successes).collect();
    let highest = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let mut out = String::new();
    text(&mut out, (4.0, 12.0), "start", &format!("{}: {} a second at most", row.id, number(highest)));
    line(&mut out, (4.0, HEIGHT - 8.0), (WIDTH / 2.0 - 4.0, HEIGHT - 8.0));
    let width = (WIDTH / 2.0 - 8.0) / counts.len().max(1) as f64;
    for (place, count) in counts.iter().enumerate() {
        let height = (HEIGHT - 28.0) * *count as f64 / highest;
        let (x, y) = (4.0 + width * place as f64, HEIGHT - 8.0 - height);
        let bar = (width - 1.0).clamp(0.3, 24.0);
        let _ = write!(
            out,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{bar:.1}" height="{height:.1}" fill="{OURS}"/>"#
        );
    }
    svg(WIDTH / 2.0, HEIGHT, "requests by second", &out)
}

/// CPU and resident memory of the server in a row's first run, each on its own scale from zero; `None`: it was not
/// watched for long enough.
pub fn usage(row: &RowReport) -> Option<String> {
    const HEIGHT: f64 = 130.0;
    const FOOT: f64 = HEIGHT - 20.0;
    let (Some(last), true) = (row.usage.last(), row.usage.len() > 1) else { return None };
    let highest = |of: fn(&UsagePoint) -> f64| row.usage.iter().map(of).fold(f64::MIN_POSITIVE, f64::max);
    let (cpu, memory) = (highest(|point| point.cpu_percent), highest(|point| point.rss_mb));
    let mut out = String::new();
    let users = if row.users == 1 { "1 user".to_owned() } else { format!("{} users", row.users) };
    let title = format!(
        "{}, {users}: CPU up to {} % of a core, memory up to {} MB",
        row.id,
        number(cpu),
        number(memory)
    );
    text(&mut out, (4.0, 12.0), "start", &title);
    line(&mut out, (4.0, FOOT), (WIDTH / 2.0 - 4.0, FOOT));
    text(&mut out, (WIDTH / 2.0 - 4.0, HEIGHT - 6.0), "end", &format!("{} s", number(last.at_s)));
    let mut curve = |of: fn(&UsagePoint) -> f64, highest: f64, colour: &str| {
        let place = |point: &UsagePoint| {
            let x = 4.0 + (WIDTH / 2.0 - 8.0) * point.at_s / last.at_s.max(f64::MIN_POSITIVE);
            format!("{x:.1},{:.1}", FOOT - (FOOT - 20.0) * of(point) / highest)
        };
        let points: Vec<String> = row.usage.iter().map(place).collect();
        let _ = write!(out, r#"<polyline points="{}" fill="none" stroke="{colour}"/>"#, points.join(" "));
    };
    curve(|point| point.cpu_percent, cpu, OURS);
    curve(|point| point.rss_mb, memory, MEMORY);
    Some(svg(WIDTH / 2.0, HEIGHT, "CPU and memory over time", &out))
}

/// The names of the colours of [`usage`].
pub fn usage_legend() -> String {
    format!(
        r#"<span style="color:{OURS}">■</span> CPU <span style="color:{MEMORY}">■</span> resident memory, each from zero"#
    )
}
