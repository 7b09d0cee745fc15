//! What the tokens of a module say, test code left out.

use std::iter::Peekable;
use std::slice::Iter;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::Mention;

/// One thing found in a module.
#[derive(Debug)]
pub(crate) enum Found {
    /// `mod name;`, or `mod name { body }`.
    Module { name: String, body: Option<TokenStream> },
    /// A name that `use` brings in.
    Import { name: String, segments: Vec<String> },
    /// `use segments::*`.
    Glob(Vec<String>),
    /// Something defined here.
    Item(String),
    /// A path that begins with `crate`, `self` or `super`.
    Mention(Mention),
}

/// Words before the name of what is defined.
const DEFINING: [&str; 8] = ["struct", "enum", "union", "trait", "type", "fn", "const", "static"];

/// Reads the tokens of a module.
pub(crate) fn read(tokens: &TokenStream) -> Vec<Found> {
    let mut found = Vec::new();
    let trees = tested_out(tokens);
    let mut trees = trees.iter().peekable();
    while let Some(tree) = trees.next() {
        match word(tree).as_deref() {
            Some("mod") => read_module(&mut trees, &mut found),
            Some("use") => read_use(&mut trees, &mut found),
            Some("macro_rules") => {
                trees.next_if(|tree| is_punct(tree, '!'));
                found.extend(trees.peek().and_then(|tree| word(tree)).map(Found::Item));
            }
            Some(defining) if DEFINING.contains(&defining) => {
                // `const fn`, `const _`: the word after the next is looked at next.
                found.extend(trees.peek().and_then(|tree| word(tree)).map(Found::Item));
            }
            _ => read_path(tree, &mut trees, &mut found),
        }
    }
    found
}

fn read_module(trees: &mut Peekable<Iter<'_, TokenTree>>, found: &mut Vec<Found>) {
    let Some(name) = trees.next().and_then(word) else { return };
    let body = match trees.next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    };
    found.push(Found::Module { name, body });
}

/// Paths inside bodies, arguments and macros: found wherever they are, and so is a `use` in a function.
fn read_inside(tokens: &TokenStream, found: &mut Vec<Found>) {
    let trees = tested_out(tokens);
    let mut trees = trees.iter().peekable();
    while let Some(tree) = trees.next() {
        if word(tree).as_deref() == Some("use") {
            let mut inner = Vec::new();
            read_use(&mut trees, &mut inner);
            // Names of a function are not names of the module.
            found.extend(inner.into_iter().filter(|found| matches!(found, Found::Mention(_))));
        } else {
            read_path(tree, &mut trees, found);
        }
    }
}

fn read_path(tree: &TokenTree, trees: &mut Peekable<Iter<'_, TokenTree>>, found: &mut Vec<Found>) {
    if let TokenTree::Group(group) = tree {
        return read_inside(&group.stream(), found);
    }
    let Some(first) = word(tree).filter(|word| matches!(word.as_str(), "crate" | "self" | "super")) else {
        return;
    };
    let line = tree.span().start().line;
    let mut segments = vec![first];
    while step_in(trees) {
        let Some(next) = trees.peek().and_then(|tree| word(tree)) else { break };
        segments.push(next);
        trees.next();
    }
    if segments.len() > 1 {
        found.push(Found::Mention(Mention { segments, line }));
    }
}

/// Passes over `::`, if that is next.
fn step_in(trees: &mut Peekable<Iter<'_, TokenTree>>) -> bool {
    let first = trees.next_if(|tree| is_punct(tree, ':')).is_some();
    first && trees.next_if(|tree| is_punct(tree, ':')).is_some()
}

/// The tree of a `use`, to its semicolon.
fn read_use(trees: &mut Peekable<Iter<'_, TokenTree>>, found: &mut Vec<Found>) {
    step_in(trees);
    read_branch(trees, &[], found);
    trees.next_if(|tree| is_punct(tree, ';'));
}

fn read_branch(trees: &mut Peekable<Iter<'_, TokenTree>>, before: &[String], found: &mut Vec<Found>) {
    let mut segments = before.to_vec();
    let mut line = 0;
    loop {
        match trees.peek() {
            Some(TokenTree::Ident(ident)) => {
                line = ident.span().start().line;
                segments.push(ident.to_string());
                trees.next();
            }
            Some(TokenTree::Group(group)) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let mut inner = inner.iter().peekable();
                while inner.peek().is_some() {
                    read_branch(&mut inner, &segments, found);
                    inner.next_if(|tree| is_punct(tree, ','));
                }
                trees.next();
                return;
            }
            Some(tree) if is_punct(tree, '*') => {
                trees.next();
                mention(&segments, line, found);
                found.push(Found::Glob(segments));
                return;
            }
            _ => return,
        }
        if !step_in(trees) {
            break;
        }
    }
    // `use a::b::{self}` names b.
    if segments.len() > 1 && segments.last().is_some_and(|last| last == "self") {
        segments.pop();
    }
    mention(&segments, line, found);
    let mut name = segments.last().cloned();
    if trees.next_if(|tree| word(tree).as_deref() == Some("as")).is_some() {
        name = trees.next().and_then(word);
    }
    found.extend(name.map(|name| Found::Import { name, segments }));
}

fn mention(segments: &[String], line: usize, found: &mut Vec<Found>) {
    if segments.first().is_some_and(|first| matches!(first.as_str(), "crate" | "self" | "super")) {
        found.push(Found::Mention(Mention { segments: segments.to_vec(), line }));
    }
}

/// The trees of a stream without those under `#[cfg(test)]` and its like, and without attributes.
fn tested_out(tokens: &TokenStream) -> Vec<TokenTree> {
    let mut trees = tokens.clone().into_iter().peekable();
    let mut kept = Vec::new();
    let mut is_test = false;
    while let Some(tree) = trees.next() {
        if is_punct(&tree, '#') && matches!(trees.peek(), Some(TokenTree::Group(_))) {
            is_test |= trees.next().is_some_and(|attribute| marks_test(&attribute));
            continue;
        }
        if !is_test {
            kept.push(tree);
            continue;
        }
        is_test = false;
        let ends_at_comma = !word(&tree).is_some_and(|word| begins_item(&word));
        let mut next = Some(tree);
        while let Some(tree) = next {
            let is_body = matches!(&tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
            if is_body || is_punct(&tree, ';') || (ends_at_comma && is_punct(&tree, ',')) {
                break;
            }
            next = trees.next();
        }
    }
    kept
}

fn begins_item(word: &str) -> bool {
    DEFINING.contains(&word)
        || matches!(word, "pub" | "mod" | "use" | "impl" | "async" | "unsafe" | "extern" | "macro_rules")
}

/// `[test]`, `[cfg(test)]`, `[cfg(any(test, ..))]`, `[cfg(feature = "testing")]`.
fn marks_test(attribute: &TokenTree) -> bool {
    let text: String = attribute.to_string().split_whitespace().collect();
    let text = text.trim_start_matches('[').trim_end_matches(']');
    text == "test"
        || (text.starts_with("cfg(") && !text.contains("not("))
            && (text.contains("(test") || text.contains(",test") || text.contains("\"testing\""))
}

fn word(tree: &TokenTree) -> Option<String> {
    match tree {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        _ => None,
    }
}

fn is_punct(tree: &TokenTree, wanted: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == wanted)
}
