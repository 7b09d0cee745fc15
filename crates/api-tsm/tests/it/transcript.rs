//! Transcripts: parsed, and printed again.

use std::fmt;

/// A file of steps.
pub(crate) struct Transcript {
    /// What stands before the first step.
    pub(crate) preface: String,
    pub(crate) steps: Vec<Step>,
}

/// A request and its answer.
pub(crate) struct Step {
    title: String,
    pub(crate) request: Sent,
    answer: Option<Got>,
}

/// A request as it is sent.
#[derive(Clone)]
pub(crate) struct Sent {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// An answer.
#[derive(Clone)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Sent {
    /// A request without headers and body: `GET /path`.
    fn line(line: &str) -> Self {
        let (method, target) = line.split_once(' ').expect("a request line");
        Self { method: method.into(), target: target.into(), headers: Vec::new(), body: String::new() }
    }

    fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

impl Step {
    pub(crate) fn answered(&self, answer: Got) -> Self {
        Self { title: self.title.clone(), request: self.request.clone(), answer: Some(answer) }
    }
}

impl Transcript {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.split("### ");
        let preface = parts.next().unwrap_or_default().to_owned();
        let steps = parts.map(parse_step).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { preface, steps })
    }
}

/// The answer is not read: it is compared as text.
fn parse_step(text: &str) -> Result<Step, String> {
    let mut lines = text.lines().filter(|line| !line.starts_with('<'));
    let title = lines.next().unwrap_or_default().to_owned();
    let line =
        lines.next().filter(|line| line.contains(' ')).ok_or_else(|| format!("no request: {title}"))?;
    let mut request = Sent::line(line);
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
        for line in body.lines() {
            writeln!(out, "<< {line}")?;
        }
        Ok(())
    }
}
