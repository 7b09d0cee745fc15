//! What is uploaded: one module as a `.yang` file, or several in a `.zip`, flat or in folders. An archive is checked while it
//! is unpacked, in memory, so that no small one becomes large.

use std::io::{Cursor, Read as _};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::modules::{FILES_MAX, TEXT_BYTES_MAX, YangFile};

/// What an archive may hold.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ArchiveLimits {
    /// Entries, folders and files that are passed over included.
    pub entries_max: usize,
    /// Bytes of all modules together.
    pub unpacked_bytes_max: usize,
    /// Times that an entry may be larger unpacked than packed, if it has more than [`RATIO_BYTES_MIN`].
    pub ratio_max: u64,
    /// Folders within each other.
    pub folder_depth_max: usize,
}

impl ArchiveLimits {
    /// What any set of modules keeps to: twice as many entries as modules, texts of the largest set, a hundredfold packing.
    pub const STANDARD: Self = Self {
        entries_max: 2 * FILES_MAX,
        unpacked_bytes_max: TEXT_BYTES_MAX,
        ratio_max: 100,
        folder_depth_max: 20,
    };
}

/// Unpacked bytes up to which the ratio of an entry does not matter: texts of one word pack well.
pub const RATIO_BYTES_MIN: u64 = 1 << 20;

/// Why an upload is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ArchiveError {
    /// It is neither a module nor an archive.
    #[error("{file}: a .yang or a .zip file is expected")]
    UnsupportedType {
        /// As it was named.
        file: Box<str>,
    },
    /// It is called an archive, and is none that can be read.
    #[error("{file}: {message}")]
    Unreadable {
        /// The archive, or the entry of it.
        file: Box<str>,
        /// What is wrong.
        message: Box<str>,
    },
    /// No entry is a module.
    #[error("{file}: the archive holds no .yang files")]
    Empty {
        /// The archive.
        file: Box<str>,
    },
    /// A module is not text.
    #[error("{file}: byte {at} is not of UTF-8")]
    NotUtf8 {
        /// The file, or the entry.
        file: Box<str>,
        /// The first that is wrong, from 0 on.
        at: usize,
    },
    /// More than is allowed.
    #[error("{file}: {message}")]
    Limit {
        /// The archive, or the entry of it.
        file: Box<str>,
        /// Which limit, and what it is.
        message: Box<str>,
    },
}

/// The modules of an upload, named as the file or as its entries. What an archive holds besides `.yang` files is passed over,
/// but archives within it. Cost: linear in what is unpacked, which is bounded.
///
/// # Errors
///
/// See [`ArchiveError`]; it names the file or entry.
pub fn unpack(file_name: &str, bytes: &[u8], limits: &ArchiveLimits) -> Result<Vec<YangFile>, ArchiveError> {
    if has_extension(file_name, ".yang") {
        if bytes.len() > limits.unpacked_bytes_max {
            return Err(too_many_bytes(file_name, limits));
        }
        return Ok(vec![file(file_name, bytes.to_vec())?]);
    }
    if has_extension(file_name, ".zip") {
        return unzip(file_name, bytes, limits);
    }
    Err(ArchiveError::UnsupportedType { file: file_name.into() })
}

fn unzip(file_name: &str, bytes: &[u8], limits: &ArchiveLimits) -> Result<Vec<YangFile>, ArchiveError> {
    // Each entry of the directory begins with this. Counted first, since reading the directory takes memory for all of them.
    let entries = memchr::memmem::find_iter(bytes, b"PK\x01\x02").count();
    if entries > limits.entries_max {
        let message = format!("{entries} entries are more than {}", limits.entries_max);
        return Err(ArchiveError::Limit { file: file_name.into(), message: message.into() });
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| unreadable(file_name, &error))?;
    let mut files = Vec::new();
    let mut left = limits.unpacked_bytes_max;
    for index in 0..archive.len() {
        // Its name says what it is before anything is unpacked.
        let Some(name) = archive.name_for_index(index) else { continue };
        let name: Box<str> = name.map_err(|error| unreadable(file_name, &error))?.into();
        check_name(&name, limits)?;
        if !has_extension(&name, ".yang") || is_hidden(&name) {
            continue;
        }
        let entry = archive.by_index(index).map_err(|error| unreadable(&name, &error))?;
        let packed = entry.compressed_size();
        let mut text = Vec::new();
        // One byte more than is left tells that there is more.
        let read = entry.take(left as u64 + 1).read_to_end(&mut text);
        read.map_err(|error| ArchiveError::Unreadable {
            file: name.clone(),
            message: error.to_string().into(),
        })?;
        let is_bomb = text.len() as u64 > RATIO_BYTES_MIN.max(packed.saturating_mul(limits.ratio_max));
        if is_bomb {
            let message = format!("it is packed more than {} to one", limits.ratio_max);
            return Err(ArchiveError::Limit { file: name, message: message.into() });
        }
        left = left.checked_sub(text.len()).ok_or_else(|| too_many_bytes(file_name, limits))?;
        files.push(file(&name, text)?);
    }
    if files.is_empty() {
        return Err(ArchiveError::Empty { file: file_name.into() });
    }
    Ok(files)
}

fn check_name(name: &str, limits: &ArchiveLimits) -> Result<(), ArchiveError> {
    if has_extension(name, ".zip") {
        return Err(ArchiveError::Unreadable {
            file: name.into(),
            message: "an archive within an archive is not unpacked".into(),
        });
    }
    if name.split(['/', '\\']).count() > limits.folder_depth_max.saturating_add(1) {
        let message = format!("folders nest deeper than {}", limits.folder_depth_max);
        return Err(ArchiveError::Limit { file: name.into(), message: message.into() });
    }
    Ok(())
}

fn file(name: &str, bytes: Vec<u8>) -> Result<YangFile, ArchiveError> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(YangFile { name: name.into(), text: text.into() }),
        Err(error) => Err(ArchiveError::NotUtf8 { file: name.into(), at: error.utf8_error().valid_up_to() }),
    }
}

fn has_extension(name: &str, extension: &str) -> bool {
    let start = name.len().saturating_sub(extension.len());
    name.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(extension))
}

/// What archivers of some systems put beside the files.
fn is_hidden(name: &str) -> bool {
    name.starts_with("__MACOSX/") || name.rsplit('/').next().is_some_and(|file| file.starts_with('.'))
}

fn unreadable(file: &str, error: &ZipError) -> ArchiveError {
    ArchiveError::Unreadable { file: file.into(), message: error.to_string().into() }
}

fn too_many_bytes(file: &str, limits: &ArchiveLimits) -> ArchiveError {
    let message = format!("the modules have more than {} bytes", limits.unpacked_bytes_max);
    ArchiveError::Limit { file: file.into(), message: message.into() }
}

#[cfg(test)]
mod tests;
