//! A user's own protobuf schema: compiles `.proto` text, chooses the message, and writes documents as that message by protobuf's JSON mapping.
//!
//! The mapping is that of protobuf.dev/programming-guides/json: a field goes by its JSON name or its own, 64-bit numbers may be text, bytes are base64.
//! Unknown fields are refused. Text comes from the caller, so no import leaves the folder that the caller reads from.

mod map_order;
mod misfit;
mod round_trip;

pub use misfit::Misfit;

use misfit::read;
use prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage, FileDescriptor, Kind, MessageDescriptor, SerializeOptions};
use protox::file::{File, FileResolver, GoogleFileResolver};
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path};

/// The largest `.proto` file that is compiled, in bytes: our own choice.
pub const PROTO_BYTES_MAX: u64 = 4_000_000;

/// The most files that one file may import, directly or not: our own choice.
const IMPORTS_MAX: usize = 500;

/// The deepest nesting of brackets in a file: our own choice.
const BRACKETS_MAX: usize = 200;

/// The compiler reads imports and brackets by recursion: each of the limits above takes less than 4 MB, even in a build without optimisation.
const COMPILER_STACK_BYTES: usize = 16 << 20;

/// Why a user's schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UserSchemaError {
    /// It is no valid protobuf.
    #[error("{0}")]
    Invalid(String),
    /// There is nothing to write documents as.
    #[error("{file} defines no message: give the file that defines the message of the documents")]
    NoMessage {
        /// The file.
        file: String,
    },
    /// The named message does not exist.
    #[error("{file} has no message {name}; it has {}", candidates.join(", "))]
    UnknownMessage {
        /// The file.
        file: String,
        /// The name.
        name: String,
        /// The messages that it has.
        candidates: Vec<String>,
    },
    /// Several messages may be meant.
    #[error("{file} has several messages that may be meant: name one with --message: {}", candidates.join(", "))]
    Ambiguous {
        /// The file.
        file: String,
        /// The messages.
        candidates: Vec<String>,
    },
}

/// A message of a user's schema, which documents are written as.
#[derive(Debug, Clone)]
pub struct UserSchema {
    file: String,
    message: MessageDescriptor,
    /// Whether a map may be in it: its entries are brought into an order.
    has_maps: bool,
}

impl UserSchema {
    /// Compiles `file`, whose text and imports `read` returns by their names in the file's folder. The message is the named one (its short name
    /// is enough), otherwise the only one of the file that no other message uses. Imports of `google/protobuf/` need not be there.
    ///
    /// # Errors
    /// When the file or an import is missing or invalid, or the message is not clear.
    pub fn compile(
        file: &str,
        read: impl Fn(&str) -> io::Result<String> + Send + 'static,
        message: Option<&str>,
    ) -> Result<Self, UserSchemaError> {
        if let Err(error) = read(file) {
            let problem = format!("{file} cannot be read: {error}: give a .proto file");
            return Err(UserSchemaError::Invalid(problem));
        }
        let pool = with_large_stack(|| compile(file, read))?;
        let root = pool.get_file_by_name(file).expect("the file was compiled");
        let message = choose(&pool, &root, message)?;
        let mut visited = BTreeSet::new();
        Ok(Self {
            file: file.to_owned(),
            has_maps: has_maps(&message, &mut visited),
            message,
        })
    }

    /// The file that it is from.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The message's name with its package.
    pub fn message(&self) -> &str {
        self.message.full_name()
    }

    /// A document as bytes, fields in the order of their numbers and entries of maps in the order of theirs.
    ///
    /// # Errors
    /// When the document does not fit the message.
    pub fn encode(&self, document: &Value) -> Result<Vec<u8>, Misfit> {
        let message =
            read(&self.message, document).map_err(|problem| misfit::locate(&self.message, document, problem))?;
        if let Some(missing) = misfit::missing(&message, document, "") {
            return Err(missing);
        }
        let bytes = message.encode_to_vec();
        Ok(if self.has_maps {
            map_order::sorted(&self.message, &bytes).expect("the library's messages are valid")
        } else {
            bytes
        })
    }

    /// A document from its bytes: with JSON names, 64-bit numbers as numbers, and without fields that hold their default and have no presence.
    ///
    /// # Errors
    /// When the bytes are no such message.
    pub fn decode(&self, bytes: &[u8]) -> Result<Value, String> {
        let message = self.decode_message(bytes)?;
        let options = SerializeOptions::new().stringify_64_bit_integers(false);
        message
            .serialize_with_options(serde_json::value::Serializer, &options)
            .map_err(|error| error.to_string())
    }

    /// Where the message in `bytes` differs from the document: a field. The two are equal if every member of the document is in the
    /// message with the same value, and nothing else is. Null is a field that is absent, and a default one that has no presence; a number in a field of
    /// 32-bit floats is the nearest of them; times and other well-known types are compared as the mapping reads them.
    ///
    /// # Errors
    /// When the bytes are no such message.
    pub fn difference(&self, document: &Value, bytes: &[u8]) -> Result<Option<String>, String> {
        let message = self.decode_message(bytes)?;
        Ok(round_trip::difference(document, &message, ""))
    }

    fn decode_message(&self, bytes: &[u8]) -> Result<DynamicMessage, String> {
        DynamicMessage::decode(self.message.clone(), bytes).map_err(|error| error.to_string())
    }
}

/// Runs the compiler on a stack that is large enough for both limits.
fn with_large_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(COMPILER_STACK_BYTES)
            .spawn_scoped(scope, run)
            .expect("a thread can be started");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn compile(file: &str, read: impl Fn(&str) -> io::Result<String> + 'static) -> Result<DescriptorPool, UserSchemaError> {
    let mut compiler = protox::Compiler::with_file_resolver(Folder {
        read,
        files: Cell::new(0),
    });
    compiler
        .open_file(file)
        .map_err(|error| UserSchemaError::Invalid(with_line(&error)))?;
    Ok(compiler.descriptor_pool())
}

/// The library's message with file, line and column, which only the debug form has. Our own are text, and would be quoted there.
fn with_line(error: &protox::Error) -> String {
    let debug = format!("{error:?}");
    if debug.starts_with('"') {
        error.to_string()
    } else {
        debug
    }
}

/// Resolves imports by names in one folder, and those of `google/protobuf/` from the library.
struct Folder<R> {
    read: R,
    files: Cell<usize>,
}

impl<R: Fn(&str) -> io::Result<String>> FileResolver for Folder<R> {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let refused = |problem: String| protox::Error::new(format!("{name}: {problem}"));
        let outside =
            |import: &str| format!("import {import:?}: it must be a path inside the folder of the .proto file");
        if !is_inside(name) {
            return Err(refused(outside(name)));
        }
        self.files.set(self.files.get() + 1);
        if self.files.get() > IMPORTS_MAX {
            return Err(refused(format!(
                "more than {IMPORTS_MAX} files are imported: join some"
            )));
        }
        match (self.read)(name) {
            Ok(text) if text.len() as u64 > PROTO_BYTES_MAX => {
                Err(refused(format!("it is larger than {PROTO_BYTES_MAX} bytes: split it")))
            }
            Ok(text) if nesting(&text) > BRACKETS_MAX => {
                Err(refused(format!("brackets are nested more than {BRACKETS_MAX} deep")))
            }
            Ok(text) => match imports(&text).find(|import| !is_inside(import)) {
                Some(import) => Err(refused(outside(import))),
                None => File::from_source(name, &text),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => GoogleFileResolver::new().open_file(name),
            Err(error) => Err(refused(format!("it cannot be read: {error}"))),
        }
    }
}

fn is_inside(name: &str) -> bool {
    let is_name = |component| matches!(component, Component::Normal(_));
    !name.contains('\\') && Path::new(name).components().all(is_name)
}

/// What statements import, as far as they begin a line or follow another: the compiler's own message about a path is wrong.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    text.split([';', '\n'])
        .filter_map(|statement| statement.trim_start().strip_prefix("import"))
        .filter_map(|rest| rest.split(['"', '\'']).nth(1))
}

/// The deepest nesting of brackets, those of comments and text included.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'{' | b'[' | b'(' | b'<' => depth += 1,
            b'}' | b']' | b')' | b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn choose(
    pool: &DescriptorPool,
    file: &FileDescriptor,
    name: Option<&str>,
) -> Result<MessageDescriptor, UserSchemaError> {
    let own: Vec<MessageDescriptor> = pool
        .all_messages()
        .filter(|message| message.parent_file().name() == file.name() && !message.is_map_entry())
        .collect();
    let names =
        |messages: &[MessageDescriptor]| messages.iter().map(|message| message.full_name().to_owned()).collect();
    let file_name = file.name().to_owned();
    let ambiguous = |messages: &[MessageDescriptor]| UserSchemaError::Ambiguous {
        file: file_name.clone(),
        candidates: names(messages),
    };
    if let Some(name) = name {
        let name = name.trim_start_matches('.');
        let suffix = format!(".{name}");
        let is_named = |message: &MessageDescriptor| {
            !message.is_map_entry() && (message.full_name() == name || message.full_name().ends_with(&suffix))
        };
        if let Some(exact) = pool.get_message_by_name(name).filter(is_named) {
            return Ok(exact);
        }
        let mut named: Vec<MessageDescriptor> = own.iter().filter(|message| is_named(message)).cloned().collect();
        if named.is_empty() {
            named = pool.all_messages().filter(is_named).collect();
        }
        return match &named[..] {
            [message] => Ok(message.clone()),
            [] => Err(UserSchemaError::UnknownMessage {
                candidates: names(&own),
                file: file_name,
                name: name.to_owned(),
            }),
            several => Err(ambiguous(several)),
        };
    }
    let used = used_messages(pool);
    let is_unused = |message: &&MessageDescriptor| !used.contains(message.full_name());
    let unused: Vec<MessageDescriptor> = own.iter().filter(is_unused).cloned().collect();
    match &unused[..] {
        _ if own.is_empty() => Err(UserSchemaError::NoMessage { file: file_name }),
        [message] => Ok(message.clone()),
        [] => Err(ambiguous(&own)),
        several => Err(ambiguous(several)),
    }
}

/// The messages that fields of other messages hold.
fn used_messages(pool: &DescriptorPool) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for message in pool.all_messages() {
        // The entries of a map are a message of their own, inside the one that has the map.
        let user = match message.parent_message() {
            Some(parent) if message.is_map_entry() => parent,
            _ => message.clone(),
        };
        for field in message.fields() {
            if let Kind::Message(held) = field.kind()
                && held.full_name() != user.full_name()
            {
                used.insert(held.full_name().to_owned());
            }
        }
    }
    used
}

fn has_maps(message: &MessageDescriptor, visited: &mut BTreeSet<String>) -> bool {
    visited.insert(message.full_name().to_owned())
        && message
            .fields()
            .any(|field| field.is_map() || matches!(field.kind(), Kind::Message(held) if has_maps(&held, visited)))
}

/// A path to a member.
fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

#[cfg(test)]
mod tests;
