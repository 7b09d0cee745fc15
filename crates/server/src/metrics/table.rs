//! Tables of counters: a part declares each of its counters once, with its name and help on the page.

/// Declares the counters of a part: `field: "name", "help";`.
macro_rules! counters {
    (
        $(#[doc = $doc:literal])*
        pub(crate) struct $struct:ident { $($field:ident: $name:literal, $help:literal;)* }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Default)]
        pub(crate) struct $struct {
            $(#[doc = $help] pub(crate) $field: std::sync::atomic::AtomicU64,)*
        }

        impl $struct {
            /// Appends all of them.
            pub(crate) fn write(&self, out: &mut super::exposition::Exposition) {
                $(out.counter($name, $help, self.$field.load(std::sync::atomic::Ordering::Relaxed));)*
            }
        }
    };
}

pub(super) use counters;
