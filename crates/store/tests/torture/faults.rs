//! The file layer that loses and fails on purpose: `faults.c`, compiled here and preloaded into the
//! tormented process. Without a C compiler this fails, loudly.

use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;

pub(crate) struct Layer {
    library: PathBuf,
    _folder: TempDir,
}

/// Compiles the layer.
pub(crate) fn build() -> Layer {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("faults.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torture/faults.c");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-O1", "-g", "-Wall", "-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&source)
        .arg("-ldl")
        .arg("-lpthread");
    let status = compiler
        .status()
        .expect("THE CRASH TESTS NEED A C COMPILER (`cc`): install one, nothing was checked");
    assert!(status.success(), "THE CRASH TESTS NEED THEIR FILE LAYER: `cc` failed on {}", source.display());
    Layer { library, _folder: folder }
}

impl Layer {
    /// Makes a process lose or fail at its `at`-th call that concerns `folder`.
    pub(crate) fn arm(&self, command: &mut Command, folder: &Path, mode: &str, at: u64, seed: u64) {
        command.env("LD_PRELOAD", &self.library);
        command.env("FAULTS_FOLDER", folder).env("FAULTS_MODE", mode);
        command.env("FAULTS_AT", at.to_string()).env("FAULTS_SEED", seed.to_string());
    }
}

/// A process of ours that another thread may kill; never after it was waited for.
#[derive(Clone)]
pub(crate) struct Victim(Arc<Mutex<Child>>);

impl Victim {
    pub(crate) fn new(child: Child) -> Self {
        Self(Arc::new(Mutex::new(child)))
    }

    /// What it says.
    pub(crate) fn output(&self) -> ChildStdout {
        self.0.lock().unwrap().stdout.take().expect("piped, taken once")
    }

    /// SIGKILL, now.
    pub(crate) fn kill(&self) {
        let _ = self.0.lock().unwrap().kill();
    }

    /// SIGKILL after a pause, unless it ends by itself.
    pub(crate) fn kill_after(&self, pause: Duration) {
        let victim = self.clone();
        std::thread::spawn(move || {
            std::thread::sleep(pause);
            victim.kill();
        });
    }

    /// Waits for its end, which its closed output has announced.
    pub(crate) fn wait(&self) {
        self.0.lock().unwrap().wait().expect("the process ends");
    }
}
