//! The families of this crate: one line each. Only this table knows them by name.

use crate::hakom::Hakom;
use crate::runner::AnyFamily;
use crate::stellio::Stellio;

/// All of them, in the order of `campaign list`.
pub const ALL: &[&dyn AnyFamily] = &[&Stellio, &Hakom];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Every source file below `folder` that is not a family's, with its text.
    fn frame_files(folder: &Path, names: &[String], files: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            if stem == "families" || names.contains(&stem) {
                continue;
            }
            if path.is_dir() {
                frame_files(&path, names, files);
            } else {
                files.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }

    #[test]
    fn the_frame_knows_no_family_by_name() {
        let names: Vec<String> = ALL.iter().map(|family| family.selection().unwrap().family).collect();
        let mut files = Vec::new();
        frame_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &names, &mut files);
        assert!(files.len() > 20, "{}", files.len());
        for (path, text) in &files {
            for name in &names {
                let root = path.ends_with("src/lib.rs");
                let told = text.lines().filter(|line| !root || !line.starts_with("pub mod "));
                let found = told.filter(|line| line.to_lowercase().contains(name)).collect::<Vec<_>>();
                assert!(found.is_empty(), "{path}: {found:?}");
            }
        }
    }

    #[test]
    fn the_list_names_every_row_with_its_published_figures() {
        let text: String = ALL.iter().map(|family| family.list().unwrap()).collect();
        for id in ALL.iter().flat_map(|family| family.selection().unwrap().rows) {
            assert!(text.lines().any(|line| line.starts_with(&format!("{id} "))), "{id} in {text}");
        }
        assert!(text.contains("241") && text.contains("8 vCPU"));
    }
}
