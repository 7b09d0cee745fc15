//! Transcripts against a URL: each file is a case, its steps are sent in order by `curl`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::Case;

/// A request, and what is expected of its answer.
#[derive(Debug, Default)]
struct Step {
    title: String,
    method: String,
    target: String,
    headers: Vec<String>,
    body: String,
    status: String,
    answer: String,
}

/// Runs all `*.http` below a folder, in order of paths.
pub(crate) fn run(folder: &Path, url: &str) -> anyhow::Result<Vec<Case>> {
    let mut files = Vec::new();
    walk(folder, &mut files)?;
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
        let text = fs::read_to_string(&file).with_context(|| format!("reading {name}"))?;
        let mut failure = None;
        for step in steps(&text).with_context(|| format!("reading {name}"))? {
            failure = check(&step, url)?.map(|failure| format!("{}: {failure}", step.title));
            if failure.is_some() {
                break;
            }
        }
        cases.push(Case { name, failure });
    }
    Ok(cases)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "http") {
            files.push(path);
        }
    }
    Ok(())
}

/// The steps of a transcript: `### title`, a request as in HTTP, and the answer in lines that begin with `<`.
fn steps(text: &str) -> anyhow::Result<Vec<Step>> {
    text.split("### ").skip(1).map(step).collect()
}

fn step(text: &str) -> anyhow::Result<Step> {
    let (answer, request): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('<'));
    let mut request = request.into_iter();
    let title = request.next().context("a step without a title")?;
    let mut step = Step { title: title.to_owned(), ..Step::default() };
    let line = request.next().with_context(|| format!("no request: {title}"))?;
    let (method, target) = line.split_once(' ').with_context(|| format!("no target: {title}"))?;
    (step.method, step.target) = (method.to_owned(), target.to_owned());
    step.headers = request.by_ref().take_while(|line| !line.is_empty()).map(str::to_owned).collect();
    step.body = request.collect::<Vec<_>>().join("\n").trim_end().to_owned();
    for line in answer {
        if let Some(part) = line.strip_prefix("<< ").or_else(|| line.strip_prefix("<~ ")) {
            step.answer.push_str(part);
            step.answer.push('\n');
        } else if step.status.is_empty() {
            line.trim_start_matches("< ").clone_into(&mut step.status);
        }
    }
    Ok(step)
}

/// What is wrong with the answer: its status, or its JSON, in which the order of members means nothing, or its text.
fn check(step: &Step, url: &str) -> anyhow::Result<Option<String>> {
    let mut curl = Command::new("curl");
    curl.args([
        "--silent",
        "--show-error",
        "--noproxy",
        "*",
        "--max-time",
        "60",
        "--globoff",
        "--path-as-is",
    ]);
    curl.args(["--request", &step.method, "--write-out", "\n%{http_code}"]);
    if step.method == "HEAD" {
        curl.arg("--head").args(["--output", "/dev/null"]);
    }
    for header in &step.headers {
        curl.args(["--header", header]);
    }
    if !step.body.is_empty() {
        curl.args(["--data-binary", &step.body]);
    }
    let url = format!("{}{}", url.trim_end_matches('/'), step.target);
    let output = curl.arg(url).stdin(Stdio::null()).output().context("running curl")?;
    ensure!(output.status.success(), "curl: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let (body, status) = text.rsplit_once('\n').context("no status")?;
    if status != step.status {
        return Ok(Some(format!("{status} instead of {}: {body}", step.status)));
    }
    if step.answer.is_empty() || step.method == "HEAD" {
        return Ok(None);
    }
    let is_right = match serde_json::from_str::<Value>(&step.answer) {
        Ok(expected) => serde_json::from_str::<Value>(body).is_ok_and(|found| found == expected),
        Err(_) => body.trim_end() == step.answer.trim_end(),
    };
    Ok((!is_right).then(|| format!("{body} instead of {}", step.answer)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_is_read() {
        let text = "Preface.\n\n### made\nPOST /x?a=1\ncontent-type: application/json\n\n{\"a\":\n1}\n\n< 201\n< location: /y\n\n\
            ### read\nGET /y\n\n< 200\n<~ {\n<~   \"a\":1\n<~ }\n";
        let steps = steps(text).expect("steps");
        let shown: Vec<_> = steps
            .iter()
            .map(|step| {
                (&*step.title, &*step.method, &*step.target, step.headers.len(), &*step.body, &*step.status)
            })
            .collect();
        assert_eq!(
            shown,
            [("made", "POST", "/x?a=1", 1, "{\"a\":\n1}", "201"), ("read", "GET", "/y", 0, "", "200")]
        );
        assert_eq!(
            serde_json::from_str::<Value>(&steps[1].answer).expect("JSON"),
            serde_json::json!({"a": 1})
        );
    }
}
