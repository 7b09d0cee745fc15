use std::fs;

use super::*;

/// The upward uses of a crate of these files.
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder of the file")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let modules = modules(&folder.path().join("lib.rs")).expect("modules");
    let upward: Vec<String> =
        edges(&modules).into_keys().filter(|edge| edge.is_upward(&modules)).map(|edge| edge.name()).collect();
    assert_eq!(upward, expected);
}

#[test]
fn a_module_uses_those_above_it() {
    let lib = ("lib.rs", "mod ground;\nmod roof;\npub use roof::Roof;");
    check(&[lib, ("ground.rs", "pub struct Stone;"), ("roof.rs", "use crate::ground::Stone;")], &[]);
    check(&[lib, ("ground.rs", "use crate::roof::Roof;"), ("roof.rs", "")], &["ground -> roof"]);
    check(&[lib, ("ground.rs", "fn f() { crate::roof::f() }"), ("roof.rs", "")], &["ground -> roof"]);
    check(
        &[lib, ("ground.rs", "fn f() { matches!(1, super::roof::X) }"), ("roof.rs", "")],
        &["ground -> roof"],
    );
}

#[test]
fn a_name_is_where_it_is_defined() {
    let lib = ("lib.rs", "mod ground;\nmod roof;\npub use roof::Roof as Top;\npub const DOOR: u8 = 1;");
    let roof = ("roof.rs", "pub use inner::Roof; mod inner { pub struct Roof; }");
    check(&[lib, ("ground.rs", "use {crate::Top, other::Top as Other};"), roof], &["ground -> roof"]);
    check(&[lib, ("ground.rs", "use crate::DOOR;"), roof], &["ground -> lib"]);
    let globbed = ("lib.rs", "mod ground;\nmod roof;\npub use roof::*;");
    check(&[globbed, ("ground.rs", "use super::Roof;"), roof], &["ground -> roof"]);
}

#[test]
fn modules_of_a_module_are_compared_where_paths_part() {
    let lib = ("lib.rs", "mod ground;\nmod roof;");
    let roof = ("roof.rs", "mod beam; mod tile; pub struct Slope; use tile::Tile;");
    let files =
        |beam| [lib, ("ground.rs", ""), roof, ("roof/beam.rs", beam), ("roof/tile.rs", "pub struct Tile;")];
    check(&files("use super::Slope; use crate::ground::Stone;"), &[]);
    check(&files("use super::tile::Tile;"), &["roof::beam -> roof::tile"]);
    check(&files("use super::Tile;"), &["roof::beam -> roof::tile"]);
    let up = [
        lib,
        ("ground.rs", "use crate::roof::tile::Tile;"),
        roof,
        ("roof/beam.rs", ""),
        ("roof/tile.rs", ""),
    ];
    check(&up, &["ground -> roof"]);
}

#[test]
fn test_code_is_free() {
    let lib = ("lib.rs", "mod ground;\nmod roof;\n#[cfg(test)]\nmod missing;");
    let ground = "#[cfg(test)]\nuse crate::roof;\nfn f() { #[cfg(any(test, feature = \"testing\"))] crate::roof::f(); }
        #[cfg(test)] mod tests { use crate::roof; }";
    check(&[lib, ("ground.rs", ground), ("roof.rs", "")], &[]);
    let after = "#[cfg(test)]\nmod tests { }\nuse crate::roof;";
    check(&[lib, ("ground.rs", after), ("roof.rs", "")], &["ground -> roof"]);
}
