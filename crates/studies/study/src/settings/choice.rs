//! Settings that are one of a few words, and settings that are written as they print.

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

        impl crate::settings::SettingType for $type {
            fn domain() -> crate::settings::Domain {
                crate::settings::Domain::words([$($text),+])
            }
        }
    };
}

/// Serializes settings as the text that they print as.
macro_rules! serialize_as_text {
    ($($type:ty),+) => {
        $(impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        })+
    };
}

/// Prints settings as what they wrap.
macro_rules! display_as_content {
    ($($type:ty),+) => {
        $(impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.0, f)
            }
        })+
    };
}

pub(super) use {choice, display_as_content, serialize_as_text};
