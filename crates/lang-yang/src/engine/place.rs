//! Which file and line libyang means: it names the line where a text is no YANG, and else the path of a schema node.

use crate::modules::{CompileError, Member, ModuleSet};
use crate::statement::{Statements, is_schema_node};

use super::raw::Complaint;

/// The first thing that libyang said is the cause; what follows names the modules that fail with it.
pub(super) fn refusal(set: &ModuleSet<'_>, complaints: &[Complaint], fallback: &str) -> CompileError {
    let Some(cause) = complaints.first() else { return CompileError::of_set(fallback) };
    // Our messages end without a full stop.
    let message = cause.message.trim_end_matches('.');
    if let Some(path) = cause.schema_path.as_deref() {
        return match node(set, path) {
            Some((file, line)) => CompileError::at(file, Some(line), format!("{path}: {message}")),
            None => CompileError::of_set(format!("{path}: {message}")),
        };
    }
    let parsed = complaints.iter().find_map(|complaint| module_in(&complaint.message));
    let file = parsed.and_then(|name| set.newest(name)).map(|member| &*member.file.name);
    let line = u32::try_from(cause.line).ok().filter(|line| *line > 0);
    match file {
        Some(file) => CompileError::at(file, line, message),
        None => CompileError::of_set(message),
    }
}

/// The module in `Parsing module "name" failed.`, and the submodule likewise.
fn module_in(message: &str) -> Option<&str> {
    let rest = message.strip_prefix("Parsing ")?.trim_start_matches("sub").strip_prefix("module \"")?;
    rest.strip_suffix("\" failed.")
}

/// The statement that a path of libyang ends at: of all that define a node of the last name the one whose surroundings agree
/// with most of the path. Nodes of groupings lie elsewhere than their path says.
fn node<'s>(set: &'s ModuleSet<'_>, path: &str) -> Option<(&'s str, u32)> {
    let steps = steps(path);
    let module = steps.iter().rev().find_map(|step| step.module);
    let of_module = |member: &Member<'_>| {
        let header = &member.header;
        let of = header.belongs_to.as_ref().map_or(&header.name, |module| &module.name);
        module.is_none_or(|module| module == &**of)
    };
    let mut best: Option<(usize, &'s str, u32)> = None;
    let mut consider = |member: &'s Member<'_>| {
        if let Some((score, line)) = nearest(&member.file.text, &steps)
            && best.is_none_or(|(known, ..)| known < score)
        {
            best = Some((score, &member.file.name, line));
        }
    };
    // The module's own files before those that it takes groupings from.
    set.members.iter().filter(|member| of_module(member)).for_each(&mut consider);
    set.members.iter().filter(|member| !of_module(member)).for_each(&mut consider);
    best.map(|(_, file, line)| (file, line))
}

/// The best statement of a text, and how many steps of the path agree.
fn nearest(text: &str, steps: &[Step<'_>]) -> Option<(usize, u32)> {
    let mut around: Vec<(String, String)> = Vec::new();
    let mut best: Option<(usize, u32)> = None;
    for statement in Statements::new(text).map_while(Result::ok) {
        around.truncate(statement.depth);
        around.push((statement.keyword.to_owned(), statement.text().to_owned()));
        let nodes = around.iter().rev().filter(|(keyword, _)| is_step(keyword));
        let is_end = is_step(statement.keyword);
        let score = nodes.zip(steps.iter().rev()).take_while(|(node, step)| step.is(node)).count();
        if is_end && score > 0 && best.is_none_or(|(known, _)| known < score) {
            best = Some((score, statement.line));
        }
    }
    best
}

/// What a path of libyang may name: nodes, and what it says in braces.
fn is_step(keyword: &str) -> bool {
    is_schema_node(keyword)
        || matches!(
            keyword,
            "uses" | "augment" | "deviation" | "refine" | "grouping" | "identity" | "typedef" | "feature"
        )
}

/// One step of a path of libyang: `name`, `module:name`, or `{keyword='argument'}`.
struct Step<'p> {
    module: Option<&'p str>,
    /// `None`: any that makes a node.
    keyword: Option<&'p str>,
    name: &'p str,
}

impl Step<'_> {
    fn is(&self, (keyword, argument): &(String, String)) -> bool {
        self.keyword.is_none_or(|wanted| wanted == keyword) && self.name == argument
    }
}

fn steps(path: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while let Some(after) = rest.strip_prefix('/') {
        // A step in braces may hold slashes.
        let brace = after.find('{').filter(|brace| after.find('/').is_none_or(|slash| *brace < slash));
        let end = match brace {
            Some(brace) => after.get(brace..).and_then(|inside| inside.find("'}")).map(|end| brace + end + 2),
            None => after.find('/'),
        };
        let (step, following) = after.split_at_checked(end.unwrap_or(after.len())).unwrap_or((after, ""));
        steps.push(one(step));
        rest = following;
    }
    steps
}

fn one(step: &str) -> Step<'_> {
    let (module, local) = match step.split_once(':') {
        Some((module, local)) if !module.contains('{') => (Some(module), local),
        _ => (None, step),
    };
    let inside = local.strip_prefix('{').and_then(|local| local.strip_suffix("'}"));
    match inside.and_then(|inside| inside.split_once("='")) {
        Some((keyword, name)) => Step { module, keyword: Some(keyword), name },
        None => Step { module, keyword: None, name: local },
    }
}
