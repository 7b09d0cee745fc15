//! libyang: what it makes of a set of modules. It runs when a set is uploaded and for strict validation, never to read or
//! write data.

mod texts;
mod raw;
mod place;

use yang5::context::{Context, ContextFlags};
use yang5::schema::SchemaModule;

use crate::modules::{BuiltIn, CompileError, ModuleSet};

use texts::Texts;

pub(crate) use raw::{Complaint, Patterns, TypeReader, defaults, deviations, flags, identities};

/// Which features of the modules are on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Features {
    /// All of them.
    All,
    /// These alone: pairs of module and feature.
    Listed(Vec<(Box<str>, Box<str>)>),
}

/// How a set is compiled.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CompileOptions {
    /// Which features are on.
    pub features: Features,
}

/// The modules of a set, loaded and compiled.
#[derive(Debug)]
pub(crate) struct Engine {
    context: Context,
}

impl Engine {
    /// Loads a set, and answers what libyang warns of: the newest revision of every module is implemented, others are there to be imported.
    ///
    /// # Errors
    ///
    /// What is missing from the set, and whatever libyang refuses, with file and line where it says so.
    pub(crate) fn load(
        set: &ModuleSet<'_>,
        options: &CompileOptions,
    ) -> Result<(Self, Vec<Box<str>>), CompileError> {
        // Modules come from the set alone, never from files of this machine.
        let flags = ContextFlags::NO_YANGLIBRARY | ContextFlags::DISABLE_SEARCHDIRS;
        let mut context =
            Context::new(flags).map_err(|error| CompileError::internal("libyang does not start", &error))?;
        raw::store_all_complaints();
        let built_in: Vec<BuiltIn> = context.modules(false).map(|module| built_in(&module)).collect();
        set.check_built_in(&built_in)?;
        set.check_dependencies(|name| context.get_module_latest(name).is_some())?;
        let texts = Texts::new(set);
        let load = |context: &mut Context| load_modules(context, set, &options.features);
        let warnings = raw::with_texts(&mut context, &texts, load)?;
        Ok((Self { context }, warnings))
    }

    /// What libyang has in the end.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// All modules; those that libyang brings with it are marked.
    pub(crate) fn modules(&self) -> impl Iterator<Item = (SchemaModule<'_>, bool)> {
        let own = self.context.internal_module_count() as usize;
        self.context.modules(false).enumerate().map(move |(index, module)| (module, index < own))
    }

    /// What libyang said since it was last asked on this thread; the last is the most general.
    pub(crate) fn complaints(&self) -> Vec<Complaint> {
        raw::take_complaints(&self.context)
    }
}

fn built_in(module: &SchemaModule<'_>) -> BuiltIn {
    BuiltIn {
        name: module.name().into(),
        revision: module.revision().unwrap_or("").into(),
        namespace: module.namespace().into(),
        is_implemented: module.is_implemented(),
    }
}

fn load_modules(
    context: &mut Context,
    set: &ModuleSet<'_>,
    features: &Features,
) -> Result<Vec<Box<str>>, CompileError> {
    let features: Vec<Vec<&str>> =
        set.modules().map(|member| enabled(features, &member.header.name)).collect();
    let modules: Vec<(&str, Option<&str>, &[&str])> = set
        .modules()
        .zip(&features)
        .map(|(member, features)| {
            let header = &member.header;
            (&*header.name, (!header.revision.is_empty()).then_some(&*header.revision), &**features)
        })
        .collect();
    let result = context.load_modules(&modules);
    let (warnings, errors): (Vec<Complaint>, Vec<Complaint>) =
        raw::take_complaints(context).into_iter().partition(|complaint| complaint.is_warning);
    result.map_err(|error| place::refusal(set, &errors, &error.to_string()))?;
    Ok(warnings.into_iter().map(|warning| warning.message).collect())
}

/// Features of a module that are on, in the words of libyang.
fn enabled<'a>(features: &'a Features, module: &str) -> Vec<&'a str> {
    match features {
        Features::All => vec!["*"],
        Features::Listed(listed) => {
            listed.iter().filter(|(of, _)| **of == *module).map(|(_, feature)| &**feature).collect()
        }
    }
}
