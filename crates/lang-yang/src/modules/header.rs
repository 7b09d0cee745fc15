//! The head of a module text: its name, its revisions, and what it leans on.

use std::ops::Range;

use crate::statement::{Statement, Statements, SyntaxError, is_identifier};

/// Longest name of a module, in bytes: names become names of files.
const NAME_BYTES_MAX: usize = 200;

/// What a text is, and what it leans on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Header {
    pub(crate) name: Box<str>,
    /// The newest; empty if it has none.
    pub(crate) revision: Box<str>,
    /// Of its `module` or `submodule` statement.
    pub(crate) line: u32,
    /// Empty of a submodule.
    pub(crate) namespace: Box<str>,
    pub(crate) imports: Vec<Dependency>,
    pub(crate) includes: Vec<Dependency>,
    /// Of a submodule.
    pub(crate) belongs_to: Option<Dependency>,
    /// Where, in bytes, texts in quotes are that mean nothing to a machine, in their order.
    pub(crate) prose: Vec<Range<usize>>,
}

/// A module or submodule that a text needs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Dependency {
    pub(crate) name: Box<str>,
    /// If it must be a certain one.
    pub(crate) revision: Option<Box<str>>,
    pub(crate) line: u32,
    pub(crate) is_include: bool,
    /// Where, in bytes, the body of an import begins; nothing else has one here.
    pub(crate) body: Option<usize>,
}

impl Header {
    /// Reads a text to its end, so that every error of syntax is found.
    pub(crate) fn read(text: &str) -> Result<Self, SyntaxError> {
        if let Some(at) = text.find('\0') {
            let line = text.get(..at).map_or(0, |before| before.matches('\n').count());
            let line = u32::try_from(line + 1).unwrap_or(u32::MAX);
            return Err(SyntaxError { line, message: "a zero byte is not of YANG".into() });
        }
        let mut statements = Statements::new(text);
        let first = statements.next().transpose()?;
        let mut header = Self::begin(first)?;
        let mut revision: Option<Box<str>> = None;
        let mut part = Part::Other;
        for statement in statements {
            let statement = statement?;
            if is_prose(&statement) && is_quoted(text, &statement.argument_at) {
                header.prose.push(statement.argument_at.clone());
            }
            match statement.depth {
                0 => return fails(&statement, "a file holds one module, and nothing follows it"),
                1 => part = header.section(&statement, &mut revision)?,
                2 if statement.keyword == "revision-date" => header.revision_date(part, &statement)?,
                _ => {}
            }
        }
        if let Some(revision) = revision {
            header.revision = revision;
        }
        Ok(header)
    }

    /// `module@revision`, for errors.
    pub(crate) fn full_name(&self) -> String {
        match &*self.revision {
            "" => format!("\"{}\" without revision", self.name),
            revision => format!("\"{}\" of revision {revision}", self.name),
        }
    }

    /// All that must be among the files.
    pub(crate) fn dependencies(&self) -> impl Iterator<Item = &Dependency> {
        self.imports.iter().chain(&self.includes).chain(&self.belongs_to)
    }

    fn begin(first: Option<Statement<'_>>) -> Result<Self, SyntaxError> {
        let Some(first) = first else {
            return Err(SyntaxError { line: 1, message: "the file holds no module".into() });
        };
        if !matches!(first.keyword, "module" | "submodule") {
            let message = format!("a module or a submodule is expected, got \"{}\"", first.keyword);
            return fails(&first, message);
        }
        if first.body.is_none() {
            return fails(&first, format!("\"{}\" needs a body in braces", first.keyword));
        }
        let placeholder = (first.keyword == "submodule").then(|| Dependency::new(&first, ""));
        Ok(Self {
            name: identifier(&first)?.into(),
            revision: Box::default(),
            line: first.line,
            namespace: Box::default(),
            imports: Vec::new(),
            includes: Vec::new(),
            belongs_to: placeholder,
            prose: Vec::new(),
        })
    }

    /// A statement of the module itself.
    fn section(
        &mut self,
        statement: &Statement<'_>,
        revision: &mut Option<Box<str>>,
    ) -> Result<Part, SyntaxError> {
        match statement.keyword {
            "import" => {
                let mut import = Dependency::new(statement, identifier(statement)?);
                import.body = statement.body;
                self.imports.push(import);
                return Ok(Part::Import);
            }
            "include" => {
                let mut include = Dependency::new(statement, identifier(statement)?);
                include.is_include = true;
                self.includes.push(include);
                return Ok(Part::Include);
            }
            "belongs-to" if self.belongs_to.is_some() => {
                self.belongs_to = Some(Dependency::new(statement, identifier(statement)?));
            }
            "namespace" => self.namespace = namespace(statement)?.into(),
            "revision" => {
                let date = date(statement)?;
                if revision.as_deref().is_none_or(|newest| newest < date) {
                    *revision = Some(date.into());
                }
            }
            _ => {}
        }
        Ok(Part::Other)
    }

    fn revision_date(&mut self, part: Part, statement: &Statement<'_>) -> Result<(), SyntaxError> {
        let dependency = match part {
            Part::Import => self.imports.last_mut(),
            Part::Include => self.includes.last_mut(),
            Part::Other => None,
        };
        if let Some(dependency) = dependency {
            dependency.revision = Some(date(statement)?.into());
        }
        Ok(())
    }
}

impl Dependency {
    fn new(statement: &Statement<'_>, name: &str) -> Self {
        Self { name: name.into(), revision: None, line: statement.line, is_include: false, body: None }
    }
}

/// Which statement of the module is being read.
#[derive(Clone, Copy)]
enum Part {
    Import,
    Include,
    Other,
}

/// Whether a statement is for people alone (RFC 7950, sections 7.1.7, 7.1.8, 7.21.3 and 7.21.4).
fn is_prose(statement: &Statement<'_>) -> bool {
    matches!(statement.keyword, "description" | "reference" | "organization" | "contact")
}

fn is_quoted(text: &str, argument: &Range<usize>) -> bool {
    matches!(text.as_bytes().get(argument.start), Some(b'"' | b'\''))
}

fn fails<T>(statement: &Statement<'_>, message: impl Into<Box<str>>) -> Result<T, SyntaxError> {
    Err(SyntaxError { line: statement.line, message: message.into() })
}

fn identifier<'a>(statement: &'a Statement<'_>) -> Result<&'a str, SyntaxError> {
    let name = statement.text();
    if !is_identifier(name) || name.len() > NAME_BYTES_MAX {
        let message = format!("\"{}\" needs a name of at most {NAME_BYTES_MAX} letters", statement.keyword);
        return fails(statement, message);
    }
    Ok(name)
}

/// Whether it is a URI is not checked; in XML nothing else could name it.
fn namespace<'a>(statement: &'a Statement<'_>) -> Result<&'a str, SyntaxError> {
    let namespace = statement.text();
    let is_no_uri = |letter: char| letter.is_whitespace() || letter.is_control();
    if namespace.is_empty() || namespace.contains(is_no_uri) {
        return fails(statement, "\"namespace\" needs a URI, which is not empty and has no white space");
    }
    Ok(namespace)
}

/// `YYYY-MM-DD` in its shape: whether there is such a day, the engine says.
fn date<'a>(statement: &'a Statement<'_>) -> Result<&'a str, SyntaxError> {
    let date = statement.text();
    let is_date = date.len() == 10
        && date.bytes().enumerate().all(|(index, byte)| match index {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if is_date {
        Ok(date)
    } else {
        fails(statement, format!("\"{}\" needs a date as 2013-07-15", statement.keyword))
    }
}
