//! What libyang has in its tables and its binding has no words for: types, defaults, identities, flags, and all that it
//! complained of. The one file that reads by pointer.
//!
//! Everything here follows from three rules of libyang: what a compiled context points to stays where it is, and unchanged,
//! until the context is dropped, and all that is handed in here borrows the context; texts end with a zero byte; and a sized
//! array has the number of its elements, as 64 bits, before the first.

#![expect(unsafe_code, reason = "yang5 does not read types, and libyang has them in its tables alone")]

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::ops::RangeInclusive;
use std::sync::Arc;

use yang5::context::Context;
use yang5::ffi;
use yang5::schema::{SchemaModule, SchemaNode, SchemaNodeKind};

use crate::types::{IntegerWidth, Leafref, Pattern, Type, TypeKind};

use super::texts::Texts;

/// Something that libyang said.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Complaint {
    /// Whether it goes on nevertheless.
    pub(crate) is_warning: bool,
    /// What is wrong.
    pub(crate) message: Box<str>,
    /// Where in data.
    pub(crate) data_path: Option<Box<str>>,
    /// Where in a schema.
    pub(crate) schema_path: Option<Box<str>>,
    /// Of the text that was read; 0 if that is not known.
    pub(crate) line: u64,
}

/// Makes libyang remember everything that it complains of, for each context and thread; else it remembers the last. It holds
/// for the process.
pub(crate) fn store_all_complaints() {
    // SAFETY: it sets a number.
    unsafe { ffi::ly_log_options(ffi::LY_LOSTORE) };
}

/// Runs `job` while libyang has the modules of `texts` for the asking.
pub(crate) fn with_texts<T>(context: &mut Context, texts: &Texts, job: impl FnOnce(&mut Context) -> T) -> T {
    /// Takes the callback back, also if the job panics.
    struct Asking<'c>(&'c mut Context);

    impl Drop for Asking<'_> {
        fn drop(&mut self) {
            self.0.unset_embedded_modules();
        }
    }

    let given: *const Texts = texts;
    // SAFETY: libyang hands the pointer to the callback alone, which only reads; the callback is taken back before this
    // function ends, and the texts are borrowed until then.
    unsafe { context.set_module_import_callback(give, given.cast_mut().cast()) };
    let asking = Asking(context);
    job(&mut *asking.0)
}

/// Gives libyang the text of a module, or of a submodule if it names one.
///
/// # Safety
///
/// As libyang calls it: texts that are null or end with zero, the pointer of `with_texts`, and places for its answers.
unsafe extern "C" fn give(
    module: *const c_char,
    module_revision: *const c_char,
    submodule: *const c_char,
    submodule_revision: *const c_char,
    texts: *mut c_void,
    format: *mut ffi::LYS_INFORMAT::Type,
    data: *mut *const c_char,
    free: *mut ffi::ly_module_imp_data_free_clb,
) -> ffi::LY_ERR::Type {
    let (name, revision) = match submodule.is_null() {
        true => (module, module_revision),
        false => (submodule, submodule_revision),
    };
    // SAFETY: as demanded; `with_texts` borrows the texts while this can be called.
    let (texts, name, revision) =
        unsafe { (&*texts.cast::<Texts>(), optional_text(name), optional_text(revision)) };
    let revision = revision.filter(|revision| !revision.is_empty());
    let Some(text) = name.and_then(|name| texts.find(name, revision)) else {
        return ffi::LY_ERR::LY_ENOTFOUND;
    };
    // SAFETY: as demanded. libyang reads the text before `with_texts` ends, and frees nothing that it is not told to.
    unsafe {
        *format = ffi::LYS_INFORMAT::LYS_IN_YANG;
        *data = text.as_ptr();
        *free = None;
    }
    ffi::LY_ERR::LY_SUCCESS
}

/// What libyang complained of on this thread, from the first on; it forgets it.
pub(crate) fn take_complaints(context: &Context) -> Vec<Complaint> {
    let Some(module) = context.modules(false).next() else { return Vec::new() };
    let mut complaints = Vec::new();
    // SAFETY: a module points to its context. The list belongs to this thread, ends with null, and is not changed while it
    // is read; afterwards nothing of it is used.
    unsafe {
        let context: *const ffi::ly_ctx = (*module.as_raw()).ctx;
        let mut next = ffi::ly_err_first(context);
        while let Some(item) = next.as_ref() {
            if let ffi::LY_LOG_LEVEL::LY_LLERR | ffi::LY_LOG_LEVEL::LY_LLWRN = item.level {
                complaints.push(Complaint {
                    is_warning: item.level == ffi::LY_LOG_LEVEL::LY_LLWRN,
                    message: lossy_text(item.msg).unwrap_or_else(|| "libyang says nothing".into()),
                    data_path: lossy_text(item.data_path),
                    schema_path: lossy_text(item.schema_path),
                    line: item.line,
                });
            }
            next = item.next;
        }
        ffi::ly_err_clean(context, std::ptr::null_mut());
    }
    complaints
}

/// What is said of a node apart from its kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flags {
    pub(crate) is_config: bool,
    pub(crate) is_mandatory: bool,
}

/// The flags of a node.
pub(crate) fn flags(node: &SchemaNode<'_>) -> Flags {
    // SAFETY: the node is of a compiled context.
    let flags = u32::from(unsafe { (*node.as_raw()).flags });
    Flags { is_config: flags & ffi::LYS_CONFIG_W != 0, is_mandatory: flags & ffi::LYS_MAND_TRUE != 0 }
}

/// The canonical default values of a leaf or leaf-list; nothing if libyang cannot tell one.
pub(crate) fn defaults(node: &SchemaNode<'_>) -> Option<Vec<Box<str>>> {
    let raw = node.as_raw();
    // SAFETY: the kind says which struct the node is; the context outlives the node, and a canonical text is a reference
    // into its dictionary that is given back.
    unsafe {
        let values: &[ffi::lysc_value] = match node.kind() {
            SchemaNodeKind::Leaf => std::slice::from_ref(&(*raw.cast::<ffi::lysc_node_leaf>()).dflt),
            SchemaNodeKind::LeafList => array((*raw.cast::<ffi::lysc_node_leaflist>()).dflts),
            _ => &[],
        };
        let mut canonical = Vec::with_capacity(values.len());
        for value in values.iter().filter(|value| !value.str_.is_null()) {
            let mut text: *const c_char = std::ptr::null();
            let result = ffi::lyd_value_validate_dflt(
                raw,
                value.str_,
                value.prefixes,
                std::ptr::null(),
                std::ptr::null_mut(),
                &raw mut text,
            );
            // Incomplete: whether a reference points at anything only data can tell.
            if !matches!(result, ffi::LY_ERR::LY_SUCCESS | ffi::LY_ERR::LY_EINCOMPLETE) || text.is_null() {
                return None;
            }
            canonical.push(optional_text(text)?.into());
            ffi::lydict_remove((*(*raw).module).ctx, text);
        }
        Some(canonical)
    }
}

/// The names of the modules that deviate from one.
pub(crate) fn deviations(module: &SchemaModule<'_>) -> Vec<Box<str>> {
    // SAFETY: the module is of a compiled context; a sized array of pointers to modules of the same context, which have names.
    unsafe {
        let others = array((*module.as_raw()).deviated_by).iter().filter_map(|other| other.as_ref());
        others.filter_map(|other| optional_text(other.name)).map(Into::into).collect()
    }
}

/// An identity, and those that name it as their base.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct IdentityOf {
    /// `module:name`.
    pub(crate) name: Box<str>,
    /// As `module:name`.
    pub(crate) derived: Vec<Box<str>>,
}

/// The identities that a module defines.
pub(crate) fn identities(module: &SchemaModule<'_>) -> Vec<IdentityOf> {
    // SAFETY: the module is of a compiled context, and its identities are a sized array of structs.
    let identities: &[ffi::lysc_ident] = unsafe { array((*module.as_raw()).identities) };
    identities
        .iter()
        .map(|identity| IdentityOf {
            name: identity_name(identity),
            // SAFETY: a sized array of pointers to identities of the same context.
            derived: unsafe {
                array(identity.derived)
                    .iter()
                    .filter_map(|derived| derived.as_ref())
                    .map(identity_name)
                    .collect()
            },
        })
        .collect()
}

fn identity_name(identity: &ffi::lysc_ident) -> Box<str> {
    // SAFETY: an identity has a name, and a module that has one.
    unsafe {
        let name = |text| optional_text(text).expect("names of YANG are of ASCII");
        format!("{}:{}", name((*identity.module).name), name(identity.name)).into()
    }
}

/// Patterns by their texts, and whether they are inverted.
pub(crate) type Patterns = HashMap<(Box<str>, bool), Arc<Pattern>>;

/// Turns the types of a context into ours. Types that libyang shares are shared; patterns are shared by all.
pub(crate) struct TypeReader<'a> {
    /// Positions of identities by `module:name`.
    identities: &'a dyn Fn(&str) -> Option<u32>,
    /// By their address in the context.
    types: HashMap<usize, Type>,
    patterns: Patterns,
}

impl<'a> TypeReader<'a> {
    /// With patterns that are known already.
    pub(crate) fn new(identities: &'a dyn Fn(&str) -> Option<u32>, patterns: Patterns) -> Self {
        Self { identities, types: HashMap::new(), patterns }
    }

    /// All patterns that were met, and those that were known before.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &Arc<Pattern>> {
        self.patterns.values()
    }

    /// The type of a leaf or leaf-list; nothing for other nodes, or if libyang has a type that YANG has not.
    pub(crate) fn read(&mut self, node: &SchemaNode<'_>) -> Option<Type> {
        let raw = node.leaf_type()?.as_raw();
        // SAFETY: the node is of a compiled context, and so is its type.
        unsafe { self.type_(raw) }
    }

    /// # Safety
    ///
    /// The type is null or of a compiled context that is there for as long as this reader.
    unsafe fn type_(&mut self, raw: *const ffi::lysc_type) -> Option<Type> {
        if raw.is_null() {
            return None;
        }
        if let Some(known) = self.types.get(&raw.addr()) {
            return Some(known.clone());
        }
        // SAFETY: as demanded.
        let kind = unsafe { self.kind(raw)? };
        let type_ = Type::new(kind);
        self.types.insert(raw.addr(), type_.clone());
        Some(type_)
    }

    /// # Safety
    ///
    /// As of `type_`, and not null. The base type says which struct it is.
    unsafe fn kind(&mut self, raw: *const ffi::lysc_type) -> Option<TypeKind> {
        use ffi::LY_DATA_TYPE as base;
        // SAFETY: each cast is to the struct that libyang allocates for the base type.
        unsafe {
            Some(match (*raw).basetype {
                base::LY_TYPE_BINARY => {
                    TypeKind::Binary { lengths: lengths((*raw.cast::<ffi::lysc_type_bin>()).length) }
                }
                base::LY_TYPE_STRING => self.string(&*raw.cast()),
                base::LY_TYPE_BITS => TypeKind::Bits(
                    array((*raw.cast::<ffi::lysc_type_bits>()).bits)
                        .iter()
                        .map(|bit| Some((optional_text(bit.name)?.into(), bit.__bindgen_anon_1.position)))
                        .collect::<Option<_>>()?,
                ),
                base::LY_TYPE_BOOL => TypeKind::Boolean,
                base::LY_TYPE_DEC64 => {
                    let decimal = &*raw.cast::<ffi::lysc_type_dec>();
                    TypeKind::Decimal {
                        fraction_digits: decimal.fraction_digits,
                        ranges: signed(decimal.range).collect(),
                    }
                }
                base::LY_TYPE_EMPTY => TypeKind::Empty,
                base::LY_TYPE_ENUM => TypeKind::Enumeration(
                    array((*raw.cast::<ffi::lysc_type_enum>()).enums)
                        .iter()
                        .map(|item| Some((optional_text(item.name)?.into(), item.__bindgen_anon_1.value)))
                        .collect::<Option<_>>()?,
                ),
                base::LY_TYPE_IDENT => self.identity(&*raw.cast())?,
                base::LY_TYPE_INST => {
                    let require_instance = (*raw.cast::<ffi::lysc_type_instanceid>()).require_instance != 0;
                    TypeKind::InstanceIdentifier { require_instance }
                }
                base::LY_TYPE_LEAFREF => self.leafref(&*raw.cast())?,
                base::LY_TYPE_UNION => {
                    let members = array((*raw.cast::<ffi::lysc_type_union>()).types).iter();
                    TypeKind::Union(members.map(|member| self.type_(*member)).collect::<Option<_>>()?)
                }
                number => integer(width(number)?, (*raw.cast::<ffi::lysc_type_num>()).range),
            })
        }
    }

    /// # Safety
    ///
    /// As of `type_`.
    unsafe fn string(&mut self, string: &ffi::lysc_type_str) -> TypeKind {
        // SAFETY: a sized array of pointers to patterns.
        let patterns = unsafe { array(string.patterns).iter().filter_map(|pattern| pattern.as_ref()) };
        let patterns = patterns
            // An extension lets a pattern be of POSIX; who does not know it passes over it.
            .filter(|pattern| pattern.format() == 0)
            .filter_map(|pattern| {
                // SAFETY: a pattern has its text.
                let text = unsafe { optional_text(pattern.expr)? };
                let is_inverted = pattern.inverted() != 0;
                let known = self.patterns.entry((text.into(), is_inverted));
                Some(Arc::clone(known.or_insert_with(|| Arc::new(Pattern::new(text, is_inverted)))))
            })
            .collect();
        // SAFETY: a range or null.
        TypeKind::String { lengths: unsafe { lengths(string.length) }, patterns }
    }

    /// # Safety
    ///
    /// As of `type_`.
    unsafe fn identity(&self, identity: &ffi::lysc_type_identityref) -> Option<TypeKind> {
        // SAFETY: a sized array of pointers to identities.
        let bases = unsafe { array(identity.bases).iter().map(|base| base.as_ref()) };
        let positions = bases.map(|base| (self.identities)(&identity_name(base?)));
        Some(TypeKind::Identity(positions.collect::<Option<_>>()?))
    }

    /// # Safety
    ///
    /// As of `type_`.
    unsafe fn leafref(&mut self, leafref: &ffi::lysc_type_leafref) -> Option<TypeKind> {
        // SAFETY: a compiled leafref has its path and the type of its target.
        unsafe {
            Some(TypeKind::Leafref(Leafref {
                path: optional_text(ffi::lyxp_get_expr(leafref.path))?.into(),
                require_instance: leafref.require_instance != 0,
                target: self.type_(leafref.realtype)?,
            }))
        }
    }
}

/// # Safety
///
/// Null, or a range of a compiled context.
unsafe fn parts<'a>(range: *const ffi::lysc_range) -> &'a [ffi::lysc_range_lysc_range_part] {
    // SAFETY: a range has a sized array of its parts.
    unsafe { range.as_ref().map_or(&[], |range| array(range.parts)) }
}

/// # Safety
///
/// As of `parts`, of a type whose bounds are signed.
unsafe fn signed<'a>(range: *const ffi::lysc_range) -> impl Iterator<Item = RangeInclusive<i64>> + 'a {
    // SAFETY: both members of each union are 64 bits; which is meant follows from the type.
    unsafe { parts(range).iter().map(|part| part.__bindgen_anon_1.min_64..=part.__bindgen_anon_2.max_64) }
}

/// # Safety
///
/// As of `parts`, of a type whose bounds are unsigned.
unsafe fn unsigned<'a>(range: *const ffi::lysc_range) -> impl Iterator<Item = RangeInclusive<u64>> + 'a {
    // SAFETY: as of `signed`.
    unsafe { parts(range).iter().map(|part| part.__bindgen_anon_1.min_u64..=part.__bindgen_anon_2.max_u64) }
}

/// # Safety
///
/// As of `unsigned`.
unsafe fn lengths(range: *const ffi::lysc_range) -> Box<[RangeInclusive<u64>]> {
    // SAFETY: lengths are unsigned.
    unsafe { unsigned(range).collect() }
}

/// # Safety
///
/// As of `parts`, of an integer type of this width.
unsafe fn integer(width: IntegerWidth, range: *const ffi::lysc_range) -> TypeKind {
    let is_signed = *width.bounds().start() < 0;
    // SAFETY: the width says whether the bounds are signed.
    let ranges = unsafe {
        match is_signed {
            true => signed(range).map(|part| (*part.start()).into()..=(*part.end()).into()).collect(),
            false => unsigned(range).map(|part| (*part.start()).into()..=(*part.end()).into()).collect(),
        }
    };
    TypeKind::Integer { width, ranges }
}

fn width(base: ffi::LY_DATA_TYPE::Type) -> Option<IntegerWidth> {
    use ffi::LY_DATA_TYPE as known;
    Some(match base {
        known::LY_TYPE_INT8 => IntegerWidth::Int8,
        known::LY_TYPE_INT16 => IntegerWidth::Int16,
        known::LY_TYPE_INT32 => IntegerWidth::Int32,
        known::LY_TYPE_INT64 => IntegerWidth::Int64,
        known::LY_TYPE_UINT8 => IntegerWidth::Uint8,
        known::LY_TYPE_UINT16 => IntegerWidth::Uint16,
        known::LY_TYPE_UINT32 => IntegerWidth::Uint32,
        known::LY_TYPE_UINT64 => IntegerWidth::Uint64,
        _ => return None,
    })
}

/// The elements of a sized array.
///
/// # Safety
///
/// Null, or the first element of a sized array that lives and does not change for `'a`.
unsafe fn array<'a, T>(first: *const T) -> &'a [T] {
    if first.is_null() {
        return &[];
    }
    // SAFETY: the count lies before the first element, aligned as 64 bits are.
    unsafe {
        let count = *first.cast::<u64>().sub(1);
        std::slice::from_raw_parts(first, usize::try_from(count).unwrap_or(0))
    }
}

/// # Safety
///
/// Null, or a text that ends with zero, and that lives and does not change for `'a`.
unsafe fn optional_text<'a>(text: *const c_char) -> Option<&'a str> {
    // SAFETY: as demanded.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().ok()).flatten()
}

/// A message, which may hold a value that libyang cut within a character.
///
/// # Safety
///
/// As of `optional_text`.
unsafe fn lossy_text(text: *const c_char) -> Option<Box<str>> {
    // SAFETY: as demanded.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into())
}
