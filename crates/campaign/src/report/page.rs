//! The report as one page: styles and charts inside, nothing fetched.

use std::fmt::Write as _;

use super::chart::{self, escape};
use super::{Report, RowReport, table};

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;\
    color:#1c2430;background:#fff}h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}\
    table{border-collapse:collapse;font-size:13px;width:100%}th,td{padding:.3rem .5rem;text-align:right;\
    border-bottom:1px solid #dfe3e8;vertical-align:top}th:first-child,td:first-child{text-align:left;\
    font-weight:600;white-space:nowrap}td:last-child,th:last-child{text-align:left;color:#4a5563}\
    ol{font-size:13px;color:#4a5563}\
    dl{display:grid;grid-template-columns:max-content auto;gap:.15rem 1rem;margin:0}dt{color:#4a5563}dd{margin:0}\
    svg{width:100%;max-width:760px;height:auto;font:11px system-ui,sans-serif;fill:#1c2430}\
    svg .grid{stroke:#dfe3e8}svg polyline{stroke-width:1.6}.small{display:grid;\
    grid-template-columns:repeat(auto-fill,minmax(21rem,1fr));gap:.5rem}.bad{color:#c0392b}\
    .wide{overflow-x:auto}";

/// The whole page.
pub fn html(report: &Report) -> String {
    let mut out = String::from("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    let title = escape(&report.title);
    let _ = write!(out, "<title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1><dl>");
    for (name, value) in table::environment(report) {
        let _ = write!(out, "<dt>{name}</dt><dd>{}</dd>", escape(&value));
    }
    for line in table::hardware(report) {
        let _ = write!(out, "<dt>published on</dt><dd>{}</dd>", escape(line));
    }
    out.push_str("</dl>");
    trouble(&mut out, report);
    figures(&mut out, report);
    tables(&mut out, report);
    let points = report.rows.iter().any(|row| row.points.is_some());
    let _ = write!(
        out,
        "<h2>{} a second</h2><p>On a logarithmic scale. ",
        if points { "Points" } else { "Requests" }
    );
    let _ = write!(out, "{}</p>{}", chart::throughput_legend(), chart::throughput(&report.rows));
    out.push_str("<h2>Latency of successes</h2>");
    for rows in by_scenario(&report.rows) {
        let name = rows.first().and_then(|row| row.scenario.as_deref()).unwrap_or("");
        let _ = write!(out, "<h3>{}</h3>{}", escape(name), chart::percentiles(&rows));
    }
    out.push_str("<h2>Requests by second</h2><div class=\"small\">");
    for row in &report.rows {
        out.push_str(&chart::over_time(row));
    }
    out.push_str("</div>");
    usage(&mut out, report);
    out.push_str("</body></html>\n");
    out
}

/// What the server used while each row ran, if it was watched.
fn usage(out: &mut String, report: &Report) {
    let charts: String = report.rows.iter().filter_map(chart::usage).collect();
    if !charts.is_empty() {
        let _ = write!(
            out,
            "<h2>CPU and memory over time</h2><p>Of the server; of this process in rows that have none. {}</p><div class=\"small\">{charts}</div>",
            chart::usage_legend()
        );
    }
}

fn trouble(out: &mut String, report: &Report) {
    let lines = table::trouble(report);
    if lines.is_empty() {
        return;
    }
    out.push_str("<h2 class=\"bad\">Errors</h2><ul>");
    for line in lines {
        let _ = write!(out, "<li>{}</li>", escape(&line));
    }
    out.push_str("</ul>");
}

fn figures(out: &mut String, report: &Report) {
    let notes = table::notes(report);
    out.push_str("<h2>Figures</h2><div class=\"wide\"><table>");
    for (place, row) in report.rows.iter().enumerate() {
        let columns = table::columns(row, &notes);
        if place == 0 {
            out.push_str("<tr>");
            for (name, _) in &columns {
                let _ = write!(out, "<th>{}</th>", escape(name));
            }
            out.push_str("</tr>");
        }
        out.push_str("<tr>");
        for (_, cell) in &columns {
            let _ = write!(out, "<td>{}</td>", escape(cell));
        }
        out.push_str("</tr>");
    }
    out.push_str("</table></div><ol>");
    for note in notes {
        let _ = write!(out, "<li>{}</li>", escape(note));
    }
    out.push_str("</ol>");
}

fn tables(out: &mut String, report: &Report) {
    for table in &report.tables {
        let _ = write!(out, "<h2>{}</h2><div class=\"wide\"><table><tr>", escape(&table.title));
        for name in &table.columns {
            let _ = write!(out, "<th>{}</th>", escape(name));
        }
        out.push_str("</tr>");
        for line in &table.lines {
            out.push_str("<tr>");
            for cell in line {
                let _ = write!(out, "<td>{}</td>", escape(cell));
            }
            out.push_str("</tr>");
        }
        let _ = write!(out, "</table></div><p>{}</p>", escape(&table.verdict));
    }
}

/// The rows of each scenario together, in the order of their first.
fn by_scenario(rows: &[RowReport]) -> Vec<Vec<&RowReport>> {
    let mut groups: Vec<Vec<&RowReport>> = Vec::new();
    for row in rows {
        let same =
            |group: &&mut Vec<&RowReport>| group.first().is_some_and(|first| first.scenario == row.scenario);
        match groups.iter_mut().find(same) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}
