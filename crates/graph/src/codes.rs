//! Enumerations with a byte for each variant in stored bytes, and a name for it in requests, answers and messages.

/// Defines such an enumeration: `Variant = byte, "NAME";` each.
macro_rules! coded {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $code:literal, $text:literal;)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $name {
            /// All, in the order of their codes.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The byte that stands for it in stored bytes.
            #[inline]
            pub fn code(self) -> u8 {
                match self { $(Self::$variant => $code,)+ }
            }

            /// What a byte of stored bytes stands for.
            #[inline]
            pub fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)+ _ => None }
            }

            /// Its name in requests, answers and messages.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The one of this name, which is written in capital letters.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
pub(crate) use coded;
