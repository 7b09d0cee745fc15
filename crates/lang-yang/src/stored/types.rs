//! Types as bytes: each once, after those that it is made of.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::types::{IntegerWidth, Leafref, Pattern, Type, TypeKind};

use super::bytes::{Malformed, Reader, Writer};

/// The types of a schema, each with its position.
#[derive(Debug, Default)]
pub(super) struct TypeTable<'a> {
    types: Vec<&'a Type>,
    /// By the address of a type's table, which types share.
    positions: HashMap<usize, u32>,
    patterns: Vec<&'a Pattern>,
    pattern_positions: HashMap<usize, u32>,
}

fn number(length: usize) -> u32 {
    u32::try_from(length).expect("tables of a schema have limits")
}

fn address<T>(value: &T) -> usize {
    std::ptr::from_ref(value).addr()
}

impl<'a> TypeTable<'a> {
    /// Adds a type, and before it those it is made of.
    pub(super) fn add(&mut self, type_: &'a Type) {
        if self.positions.contains_key(&address(type_.kind())) {
            return;
        }
        match type_.kind() {
            TypeKind::Union(members) => members.iter().for_each(|member| self.add(member)),
            TypeKind::Leafref(leafref) => self.add(&leafref.target),
            TypeKind::String { patterns, .. } => {
                for pattern in patterns {
                    let next = number(self.patterns.len());
                    let position = *self.pattern_positions.entry(address(&**pattern)).or_insert(next);
                    if position == next {
                        self.patterns.push(pattern);
                    }
                }
            }
            _ => {}
        }
        self.positions.insert(address(type_.kind()), number(self.types.len()));
        self.types.push(type_);
    }

    /// Where a type that was added is.
    pub(super) fn position(&self, type_: &Type) -> u32 {
        *self.positions.get(&address(type_.kind())).expect("the types of all nodes were added")
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.list(&self.patterns, |out, pattern| {
            out.text(pattern.text());
            out.flag(pattern.is_inverted());
        });
        out.list(&self.types, |out, type_| self.write_type(out, type_));
    }

    fn write_type(&self, out: &mut Writer, type_: &Type) {
        match type_.kind() {
            TypeKind::Integer { width, ranges } => {
                out.u8(0);
                let code = IntegerWidth::ALL.iter().position(|known| known == width);
                out.u32(number(code.expect("all of them")));
                write_ranges(out, ranges, Writer::i128);
            }
            TypeKind::Decimal { fraction_digits, ranges } => {
                out.u8(1);
                out.u8(*fraction_digits);
                write_ranges(out, ranges, Writer::i64);
            }
            TypeKind::String { lengths, patterns } => {
                out.u8(2);
                write_ranges(out, lengths, Writer::u64);
                out.list(patterns, |out, pattern| {
                    let position = self.pattern_positions.get(&address(&**pattern));
                    out.u32(*position.expect("the patterns of all types were added"));
                });
            }
            TypeKind::Boolean => out.u8(3),
            TypeKind::Enumeration(names) => {
                out.u8(4);
                out.list(names, |out, (name, value)| {
                    out.text(name);
                    out.i32(*value);
                });
            }
            TypeKind::Bits(names) => {
                out.u8(5);
                out.list(names, |out, (name, position)| {
                    out.text(name);
                    out.u32(*position);
                });
            }
            TypeKind::Binary { lengths } => {
                out.u8(6);
                write_ranges(out, lengths, Writer::u64);
            }
            TypeKind::Leafref(leafref) => {
                out.u8(7);
                out.text(&leafref.path);
                out.flag(leafref.require_instance);
                out.u32(self.position(&leafref.target));
            }
            TypeKind::Identity(bases) => {
                out.u8(8);
                out.list(bases, |out, base| out.u32(*base));
            }
            TypeKind::Empty => out.u8(9),
            TypeKind::Union(members) => {
                out.u8(10);
                out.list(members, |out, member| out.u32(self.position(member)));
            }
            TypeKind::InstanceIdentifier { require_instance } => {
                out.u8(11);
                out.flag(*require_instance);
            }
        }
    }
}

fn write_ranges<T: Copy>(out: &mut Writer, ranges: &[RangeInclusive<T>], write: impl Fn(&mut Writer, T)) {
    out.list(ranges, |out, range| {
        write(out, *range.start());
        write(out, *range.end());
    });
}

/// Reads the patterns and the types.
pub(super) fn read_types(reader: &mut Reader<'_>, identities: usize) -> Result<Vec<Type>, Malformed> {
    let patterns: Box<[Arc<Pattern>]> =
        reader.list(|reader| Ok(Arc::new(Pattern::new(&reader.text()?, reader.flag()?))))?;
    let mut types: Vec<Type> = Vec::new();
    reader.list(|reader| {
        let known = Known { types: &types, patterns: &patterns, identities };
        let type_ = Type::new(read_type(reader, &known)?);
        if !type_.is_within_limits() {
            return Err(Malformed);
        }
        types.push(type_);
        Ok(())
    })?;
    Ok(types)
}

/// What a type may be made of.
struct Known<'a> {
    types: &'a [Type],
    patterns: &'a [Arc<Pattern>],
    identities: usize,
}

impl Known<'_> {
    fn type_(&self, reader: &mut Reader<'_>) -> Result<Type, Malformed> {
        self.types.get(reader.u32()? as usize).cloned().ok_or(Malformed)
    }

    fn pattern(&self, reader: &mut Reader<'_>) -> Result<Arc<Pattern>, Malformed> {
        self.patterns.get(reader.u32()? as usize).cloned().ok_or(Malformed)
    }

    fn identity(&self, reader: &mut Reader<'_>) -> Result<u32, Malformed> {
        reader
            .u32()
            .and_then(|base| if (base as usize) < self.identities { Ok(base) } else { Err(Malformed) })
    }
}

fn read_type(reader: &mut Reader<'_>, known: &Known<'_>) -> Result<TypeKind, Malformed> {
    Ok(match reader.u8()? {
        0 => TypeKind::Integer {
            width: *IntegerWidth::ALL.get(reader.u32()? as usize).ok_or(Malformed)?,
            ranges: read_ranges(reader, Reader::i128)?,
        },
        1 => TypeKind::Decimal {
            fraction_digits: reader
                .u8()
                .and_then(|digits| if digits <= 18 { Ok(digits) } else { Err(Malformed) })?,
            ranges: read_ranges(reader, Reader::i64)?,
        },
        2 => TypeKind::String {
            lengths: read_ranges(reader, Reader::u64)?,
            patterns: reader.list(|reader| known.pattern(reader))?,
        },
        3 => TypeKind::Boolean,
        4 => TypeKind::Enumeration(reader.list(|reader| Ok((reader.text()?, reader.i32()?)))?),
        5 => TypeKind::Bits(reader.list(|reader| Ok((reader.text()?, reader.u32()?)))?),
        6 => TypeKind::Binary { lengths: read_ranges(reader, Reader::u64)? },
        7 => TypeKind::Leafref(Leafref {
            path: reader.text()?,
            require_instance: reader.flag()?,
            target: known.type_(reader)?,
        }),
        8 => TypeKind::Identity(reader.list(|reader| known.identity(reader))?),
        9 => TypeKind::Empty,
        10 => TypeKind::Union(reader.list(|reader| known.type_(reader))?),
        11 => TypeKind::InstanceIdentifier { require_instance: reader.flag()? },
        _ => return Err(Malformed),
    })
}

fn read_ranges<'a, T>(
    reader: &mut Reader<'a>,
    read: impl Fn(&mut Reader<'a>) -> Result<T, Malformed>,
) -> Result<Box<[RangeInclusive<T>]>, Malformed> {
    reader.list(|reader| Ok(read(reader)?..=read(reader)?))
}
