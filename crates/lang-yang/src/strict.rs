//! Strict validation: all that RFC 7950 says of valid data, by libyang. Types, keys and structure are checked by the readers
//! of this crate, whatever the mode; here are `when`, `must`, references, `mandatory`, `unique`, numbers of elements, choices.

use yang5::data::{DataFormat, DataParserFlags, DataTree, DataValidationFlags};

use crate::engine::{CompileOptions, Engine};
use crate::modules::{CompileError, ModuleSet, YangFile};

/// A set of modules that documents are validated against. Threads share one: validations do not wait for each other.
#[derive(Debug)]
pub struct Strict {
    engine: Engine,
}

/// A document that is not valid.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}{message}", place(path.as_deref()))]
pub struct Invalid {
    /// Where in the document, as libyang spells paths; or which node of the schema is concerned.
    pub path: Option<Box<str>>,
    /// What is wrong, in the words of libyang.
    pub message: Box<str>,
}

fn place(path: Option<&str>) -> String {
    path.map_or_else(String::new, |path| format!("{path}: "))
}

impl Strict {
    /// Of the texts that a schema was compiled of. Cost: as of a compilation; the memory of a compiled context, some megabytes
    /// for hundreds of modules.
    ///
    /// # Errors
    ///
    /// As [`compile`](crate::compile()); none for texts and options that were compiled before.
    pub fn new(files: &[YangFile], options: &CompileOptions) -> Result<Self, CompileError> {
        let set = ModuleSet::read(files)?;
        let (engine, _) = Engine::load(&set, options)?;
        Ok(Self { engine })
    }

    /// Validates a whole document, in JSON as RFC 7951 has it: the data of all modules of the set, so that what is mandatory
    /// at the top must be there, too. Cost: linear in the document, but for conditions and references that look far.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn validate(&self, json: &str) -> Result<(), Invalid> {
        // The document goes to libyang as a text that ends with zero.
        if json.contains('\0') {
            return Err(Invalid { path: None, message: "a zero byte is not of JSON".into() });
        }
        let (parse, validate) = (DataParserFlags::STRICT, DataValidationFlags::empty());
        let result = DataTree::parse_string(self.engine.context(), json, DataFormat::JSON, parse, validate);
        let is_valid = result.is_ok();
        let complaints = self.engine.complaints();
        if is_valid {
            return Ok(());
        }
        let cause = complaints.into_iter().find(|complaint| !complaint.is_warning);
        let (path, message) = match cause {
            Some(cause) => {
                (cause.data_path.or(cause.schema_path), cause.message.trim_end_matches('.').into())
            }
            None => (None, "libyang refuses the document and does not say why".into()),
        };
        Err(Invalid { path, message })
    }
}

#[cfg(test)]
mod tests;
