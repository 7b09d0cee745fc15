//! Load tests that measure models in process, as the published graph benchmarks do.
