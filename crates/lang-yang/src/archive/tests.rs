//! Uploads that are taken and refused.

use std::io::{Cursor, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{ArchiveError, ArchiveLimits, unpack};

const LIMITS: ArchiveLimits =
    ArchiveLimits { entries_max: 5, unpacked_bytes_max: 4 << 20, ratio_max: 50, folder_depth_max: 2 };

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, bytes) in entries {
        if let Some(folder) = name.strip_suffix('/') {
            zip.add_directory(folder, options).unwrap();
        } else {
            zip.start_file(*name, options).unwrap();
            zip.write_all(bytes).unwrap();
        }
    }
    zip.finish().unwrap().into_inner()
}

fn refused(name: &str, bytes: &[u8], expected: &str) -> ArchiveError {
    let error = unpack(name, bytes, &LIMITS).expect_err(expected);
    assert_eq!(error.to_string(), expected);
    error
}

#[test]
fn a_module_alone_is_taken() {
    let files = unpack("a/b.YANG", "module b {} é".as_bytes(), &LIMITS).unwrap();
    assert_eq!(files.len(), 1);
    assert_eq!((&*files[0].name, &*files[0].text), ("a/b.YANG", "module b {} é"));
    refused("a.yang", b"module \xFF", "a.yang: byte 7 is not of UTF-8");
    refused("a.yang", &vec![b' '; (4 << 20) + 1], "a.yang: the modules have more than 4194304 bytes");
    let error = refused("a.txt", b"", "a.txt: a .yang or a .zip file is expected");
    assert!(matches!(error, ArchiveError::UnsupportedType { .. }));
}

#[test]
fn modules_of_an_archive_are_taken_from_all_folders() {
    let bytes = zip(&[
        ("x/", b""),
        ("x/a.yang", b"A"),
        ("README.md", b"\xFF"),
        ("b.yang", b"B"),
        ("__MACOSX/x/._a.yang", b"?"),
    ]);
    let files = unpack("set.zip", &bytes, &LIMITS).unwrap();
    let files: Vec<(&str, &str)> = files.iter().map(|file| (&*file.name, &*file.text)).collect();
    assert_eq!(files, [("x/a.yang", "A"), ("b.yang", "B")]);
}

#[test]
fn archives_beyond_the_limits_are_refused() {
    let names = ["a.yang", "b.yang", "c.yang", "d.yang", "e.yang", "f.yang"];
    let many = zip(&names.map(|name| (name, &b""[..])));
    refused("set.zip", &many, "set.zip: 6 entries are more than 5");
    let bomb = zip(&[("a.yang", &vec![b' '; 2 << 20])]);
    assert!(bomb.len() < 8 << 10);
    refused("set.zip", &bomb, "a.yang: it is packed more than 50 to one");
    // Text that does not pack: each entry is within the limit, both are not.
    let mut state = 1_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_be_bytes()[0] & 0x7F
    };
    let noise: Vec<u8> = (0..3_u32 << 20).map(|_| noise()).collect();
    let large = zip(&[("a.yang", &noise), ("b.yang", &noise)]);
    refused("set.zip", &large, "set.zip: the modules have more than 4194304 bytes");
    let deep = zip(&[("a/b/c/d.yang", b"")]);
    refused("set.zip", &deep, "a/b/c/d.yang: folders nest deeper than 2");
    assert_eq!(unpack("set.zip", &zip(&[("a/b/c.yang", b"")]), &LIMITS).unwrap().len(), 1);
}

#[test]
fn what_is_no_archive_of_modules_is_refused() {
    let nested = zip(&[("a.yang", b"A"), ("inner.zip", &zip(&[("b.yang", b"B")]))]);
    refused("set.zip", &nested, "inner.zip: an archive within an archive is not unpacked");
    refused("set.zip", &zip(&[("a.txt", b"A")]), "set.zip: the archive holds no .yang files");
    refused("set.zip", &zip(&[]), "set.zip: the archive holds no .yang files");
    let error = unpack("set.zip", b"no archive", &LIMITS).unwrap_err();
    assert!(matches!(error, ArchiveError::Unreadable { .. }), "{error}");
    refused("set.zip", &zip(&[("a.yang", b"\xC3\x28")]), "a.yang: byte 0 is not of UTF-8");
}

#[test]
fn damaged_archives_are_errors() {
    let whole = zip(&[("a.yang", b"module a { namespace urn:a; prefix a; }"), ("x/b.yang", b"module b {}")]);
    for length in 0..whole.len() {
        // Whatever it says, it does not panic.
        let _ = unpack("set.zip", &whole[..length], &LIMITS);
    }
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0x55;
        let _ = unpack("set.zip", &changed, &LIMITS);
    }
}
