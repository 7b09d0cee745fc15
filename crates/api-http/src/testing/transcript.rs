//! Transcripts: parsed, and printed again.

use std::fmt;

use super::layout::lay_out;

/// A file of steps.
pub(super) struct Transcript {
    /// The text before the first step.
    pub(super) preface: String,
    pub(super) steps: Vec<Step>,
}

/// A request and its answer.
pub(super) struct Step {
    title: String,
    pub(super) request: Sent,
    answer: Option<Got>,
}

/// A request as it is sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The method.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// In order; a name may come twice.
    pub headers: Vec<(String, String)>,
    /// The body; text.
    pub body: String,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Got {
    /// The status.
    pub status: u16,
    /// In order.
    pub headers: Vec<(String, String)>,
    /// The body; text.
    pub body: String,
}

impl Sent {
    /// A request without headers and body: `GET /path`.
    ///
    /// # Panics
    ///
    /// If there is no blank between method and target.
    pub fn line(line: &str) -> Self {
        parse_line(line).expect("a method, a blank, a target")
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// With a body of this media type.
    #[must_use]
    pub fn body(mut self, media: &str, body: impl Into<String>) -> Self {
        self = self.header("content-type", media);
        self.body = body.into();
        self
    }
}

impl Step {
    pub(super) fn answered(&self, answer: Got) -> Self {
        Self { title: self.title.clone(), request: self.request.clone(), answer: Some(answer) }
    }
}

impl Transcript {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.split("### ");
        let preface = parts.next().unwrap_or_default().to_owned();
        let steps = parts.map(parse_step).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { preface, steps })
    }
}

fn parse_line(line: &str) -> Option<Sent> {
    let (method, target) = line.split_once(' ')?;
    Some(Sent { method: method.into(), target: target.into(), headers: Vec::new(), body: String::new() })
}

/// The answer is not read: it is compared as text.
fn parse_step(text: &str) -> Result<Step, String> {
    let mut lines = text.lines().filter(|line| !line.starts_with('<'));
    let title = lines.next().unwrap_or_default().to_owned();
    let line = lines.next().unwrap_or_default();
    let mut request = parse_line(line).ok_or_else(|| format!("no request: {title}"))?;
    for line in lines.by_ref() {
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(": ").ok_or_else(|| format!("no header: {line}"))?;
        request = request.header(name, value);
    }
    request.body = lines.collect::<Vec<_>>().join("\n").trim_end().to_owned();
    Ok(Step { title, request, answer: None })
}

impl fmt::Display for Transcript {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.preface)?;
        for (index, step) in self.steps.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            write!(out, "{step}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sent { method, target, headers, body } = &self.request;
        writeln!(out, "### {}\n{method} {target}", self.title)?;
        for (name, value) in headers {
            writeln!(out, "{name}: {value}")?;
        }
        writeln!(out)?;
        if !body.is_empty() {
            writeln!(out, "{body}\n")?;
        }
        let Some(Got { status, headers, body }) = &self.answer else { return Ok(()) };
        writeln!(out, "< {status}")?;
        for (name, value) in headers {
            writeln!(out, "< {name}: {value}")?;
        }
        // Lines with a mark of their own: a body that is laid out differs from one that came so.
        let body = body.strip_suffix('\n').unwrap_or(body);
        let laid_out = lay_out(body).filter(|lines| lines.contains('\n'));
        let mark = if laid_out.is_some() { "<~" } else { "<<" };
        for line in laid_out.as_deref().unwrap_or(body).lines() {
            writeln!(out, "{mark} {line}")?;
        }
        Ok(())
    }
}
