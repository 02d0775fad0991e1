//! Settings that are one of a few words.

/// Declares a setting that is one of a few words.
macro_rules! choice {
    ($(#[$about:meta])+ $type:ident { $($(#[$each:meta])+ $variant:ident = $text:literal,)+ }) => {
        $(#[$about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $type {
            $($(#[$each])+ #[serde(rename = $text)] $variant,)+
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $(Self::$variant => $text,)+ })
            }
        }
    };
}

pub(super) use choice;
