//! The negotiation of permessage-deflate (RFC 7692 section 7.1).
//!
//! A client sends [`Offer`]s in order of preference. A server answers one of them with a [`Response`] or declines them all. Both
//! then know the [`Agreement`]: what each side's compressor may do.
//!
//! **A window of 8 bits.** zlib has no raw streams with a window of 2^8 bytes: it runs 8 window bits as 9. We nevertheless agree to 8, in
//! both directions, and comply: section 7.1.2 limits how far back a compressor refers, and with a window of 2^w bytes zlib refers
//! back no farther than 2^w - 262 (`MAX_DIST` of its deflate.h), which for 9 bits is 250 bytes, within 2^8. A test checks this for
//! our compressors.

use super::extension::{Extension, Parameter};
use lastmile_codec::message::WindowBits;
use std::fmt;

/// The extension's name.
pub const PERMESSAGE_DEFLATE: &str = "permessage-deflate";

const SERVER_NO_CONTEXT_TAKEOVER: &str = "server_no_context_takeover";
const CLIENT_NO_CONTEXT_TAKEOVER: &str = "client_no_context_takeover";
const SERVER_MAX_WINDOW_BITS: &str = "server_max_window_bits";
const CLIENT_MAX_WINDOW_BITS: &str = "client_max_window_bits";

/// The client's `client_max_window_bits`: what it offers about its own compression window (RFC 7692 section 7.1.2.2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClientWindow {
    /// Nothing: the server may not limit it.
    #[default]
    NotOffered,
    /// The server may limit it.
    Any,
    /// The server may limit it, and need not expect a larger one.
    AtMost(WindowBits),
}

/// A client's offer. The default is the bare `permessage-deflate`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Offer {
    /// The server must compress each message without context takeover.
    pub server_no_context_takeover: bool,
    /// A hint: the client will compress each message without context takeover, whatever the server answers.
    pub client_no_context_takeover: bool,
    /// The largest window that the server may compress with.
    pub server_max_window_bits: Option<WindowBits>,
    /// How the server may limit the client's window.
    pub client_max_window_bits: ClientWindow,
}

/// A server's answer to an offer. The default is the bare `permessage-deflate`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Response {
    /// The server will compress each message without context takeover.
    pub server_no_context_takeover: bool,
    /// The client must compress each message without context takeover.
    pub client_no_context_takeover: bool,
    /// The window that the server compresses with.
    pub server_max_window_bits: Option<WindowBits>,
    /// The largest window that the client may compress with.
    pub client_max_window_bits: Option<WindowBits>,
}

/// The negotiated limits of one side's compressor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CompressorParameters {
    /// Whether it may refer to earlier messages.
    pub takeover: bool,
    /// How far back it may refer, as an exponent of 2.
    pub window_bits: WindowBits,
}

/// The negotiated parameters of permessage-deflate on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Agreement {
    /// How the server compresses.
    pub server: CompressorParameters,
    /// How the client compresses.
    pub client: CompressorParameters,
}

/// Why an element of a list is not a valid offer or response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NegotiationError {
    /// An extension that was not offered.
    #[error("the server answers with the extension {0:?}, which was not offered (RFC 6455 section 9.1)")]
    NotOffered(String),
    /// Several elements, though a server accepts only one offer.
    #[error("the server answers with permessage-deflate more than once (RFC 7692 section 5.1)")]
    Twice,
    /// A parameter that RFC 7692 does not define.
    #[error("permessage-deflate has no parameter {0:?} (RFC 7692 section 7.1)")]
    UnknownParameter(String),
    /// A repeated parameter.
    #[error("the parameter {0} occurs more than once (RFC 7692 section 7.1)")]
    DuplicateParameter(&'static str),
    /// A value that the parameter cannot have.
    #[error("the parameter {name} is {value}; {expected} (RFC 7692 section 7.1)")]
    Value {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: String,
        /// The allowed values.
        expected: &'static str,
    },
    /// A response that matches no offer.
    #[error("the server's response {response:?} matches none of the offers: {offers:?} (RFC 7692 section 7.1)")]
    FitsNoOffer {
        /// The response.
        response: String,
        /// The offers.
        offers: String,
    },
}

impl Offer {
    /// Parses an element of a client's list.
    ///
    /// # Errors
    /// When a server must decline it (RFC 7692 section 7.1): an unknown or repeated parameter, or a value out of range.
    pub fn read(extension: &Extension) -> Result<Self, NegotiationError> {
        let mut offer = Self::default();
        for parameter in &extension.parameters {
            let (name, is_repeated) = match parameter.name.as_str() {
                SERVER_NO_CONTEXT_TAKEOVER => {
                    has_no_value(SERVER_NO_CONTEXT_TAKEOVER, parameter)?;
                    let before = std::mem::replace(&mut offer.server_no_context_takeover, true);
                    (SERVER_NO_CONTEXT_TAKEOVER, before)
                }
                CLIENT_NO_CONTEXT_TAKEOVER => {
                    has_no_value(CLIENT_NO_CONTEXT_TAKEOVER, parameter)?;
                    let before = std::mem::replace(&mut offer.client_no_context_takeover, true);
                    (CLIENT_NO_CONTEXT_TAKEOVER, before)
                }
                SERVER_MAX_WINDOW_BITS => {
                    let bits = window_bits(SERVER_MAX_WINDOW_BITS, parameter)?;
                    let bits = bits.ok_or_else(|| window_error(SERVER_MAX_WINDOW_BITS, None))?;
                    let before = offer.server_max_window_bits.replace(bits);
                    (SERVER_MAX_WINDOW_BITS, before.is_some())
                }
                CLIENT_MAX_WINDOW_BITS => {
                    let bits = window_bits(CLIENT_MAX_WINDOW_BITS, parameter)?;
                    let window = bits.map_or(ClientWindow::Any, ClientWindow::AtMost);
                    let before = std::mem::replace(&mut offer.client_max_window_bits, window);
                    (CLIENT_MAX_WINDOW_BITS, before != ClientWindow::NotOffered)
                }
                unknown => return Err(NegotiationError::UnknownParameter(unknown.to_owned())),
            };
            if is_repeated {
                return Err(NegotiationError::DuplicateParameter(name));
            }
        }
        Ok(offer)
    }

    /// The element of the list that expresses it.
    pub fn extension(&self) -> Extension {
        let flag = |name: &str, is_set: bool| is_set.then(|| (name.to_owned(), None));
        let window = |name: &str, bits: Option<WindowBits>| (name.to_owned(), bits.map(|bits| bits.get().to_string()));
        let parameters = [
            flag(SERVER_NO_CONTEXT_TAKEOVER, self.server_no_context_takeover),
            flag(CLIENT_NO_CONTEXT_TAKEOVER, self.client_no_context_takeover),
            self.server_max_window_bits
                .map(|bits| window(SERVER_MAX_WINDOW_BITS, Some(bits))),
            match self.client_max_window_bits {
                ClientWindow::NotOffered => None,
                ClientWindow::Any => Some(window(CLIENT_MAX_WINDOW_BITS, None)),
                ClientWindow::AtMost(bits) => Some(window(CLIENT_MAX_WINDOW_BITS, Some(bits))),
            },
        ];
        let parameters = parameters.into_iter().flatten();
        Extension {
            name: PERMESSAGE_DEFLATE.to_owned(),
            parameters: parameters.map(|(name, value)| Parameter { name, value }).collect(),
        }
    }

    /// The agreement if the server answers this offer with `response`; none if the response does not match the offer.
    ///
    /// A response must repeat what the offer demands of the server (sections 7.1.1.1 and 7.1.2.1), with a window no larger; it may limit the
    /// client's window only if the offer allows it (section 7.1.2.2). What the client offers about itself is a hint that holds whatever the
    /// response says: a server may ignore it, so a response that allows the client a larger window than its hint is accepted.
    pub fn agree(&self, response: &Response) -> Option<Agreement> {
        let takes_up_takeover = !self.server_no_context_takeover || response.server_no_context_takeover;
        let takes_up_window = self
            .server_max_window_bits
            .is_none_or(|offered| response.server_max_window_bits.is_some_and(|bits| bits <= offered));
        let may_limit =
            self.client_max_window_bits != ClientWindow::NotOffered || response.client_max_window_bits.is_none();
        let limit = match self.client_max_window_bits {
            ClientWindow::AtMost(bits) => bits,
            ClientWindow::Any | ClientWindow::NotOffered => WindowBits::MAX,
        };
        (takes_up_takeover && takes_up_window && may_limit).then(|| Agreement {
            server: CompressorParameters {
                takeover: !response.server_no_context_takeover,
                window_bits: response.server_max_window_bits.unwrap_or(WindowBits::MAX),
            },
            client: CompressorParameters {
                takeover: !(self.client_no_context_takeover || response.client_no_context_takeover),
                window_bits: limit.min(response.client_max_window_bits.unwrap_or(WindowBits::MAX)),
            },
        })
    }
}

impl Response {
    /// Parses an element of a server's list.
    ///
    /// # Errors
    /// When a client must fail the connection (RFC 7692 section 7.1): as for an offer, and if `client_max_window_bits` has no value.
    pub fn read(extension: &Extension) -> Result<Self, NegotiationError> {
        let read = Offer::read(extension)?;
        Ok(Self {
            server_no_context_takeover: read.server_no_context_takeover,
            client_no_context_takeover: read.client_no_context_takeover,
            server_max_window_bits: read.server_max_window_bits,
            client_max_window_bits: match read.client_max_window_bits {
                ClientWindow::NotOffered => None,
                ClientWindow::Any => return Err(window_error(CLIENT_MAX_WINDOW_BITS, None)),
                ClientWindow::AtMost(bits) => Some(bits),
            },
        })
    }

    /// The element of the list that expresses it.
    pub fn extension(&self) -> Extension {
        let client_window = self.client_max_window_bits;
        let written = Offer {
            server_no_context_takeover: self.server_no_context_takeover,
            client_no_context_takeover: self.client_no_context_takeover,
            server_max_window_bits: self.server_max_window_bits,
            client_max_window_bits: client_window.map_or(ClientWindow::NotOffered, ClientWindow::AtMost),
        };
        written.extension()
    }
}

/// Answers the first valid offer; none if every offer is declined.
///
/// `wish` has the server's preferences for itself and for its clients. Each side's window becomes the smaller of the preferred and the
/// offered one. A client that does not allow a limit on its window keeps its own (section 7.1.2.2): the preference then yields, and the
/// connection costs the server a larger window for decompression.
pub fn accept_offer(listed: &[Extension], wish: &Agreement) -> Option<(Response, Agreement)> {
    let offers = listed.iter().filter(|extension| extension.name == PERMESSAGE_DEFLATE);
    let offer = offers.filter_map(|extension| Offer::read(extension).ok()).next()?;
    let offered = offer.server_max_window_bits;
    let window_bits = offered.map_or(wish.server.window_bits, |bits| bits.min(wish.server.window_bits));
    let client_max_window_bits = match offer.client_max_window_bits {
        ClientWindow::NotOffered => None,
        ClientWindow::Any => Some(wish.client.window_bits),
        ClientWindow::AtMost(bits) => Some(bits.min(wish.client.window_bits)),
    };
    let response = Response {
        server_no_context_takeover: offer.server_no_context_takeover || !wish.server.takeover,
        client_no_context_takeover: offer.client_no_context_takeover || !wish.client.takeover,
        server_max_window_bits: (offered.is_some() || window_bits < WindowBits::MAX).then_some(window_bits),
        // Left out if it would limit nothing, which means the same (section 7.1.2.2).
        client_max_window_bits: client_max_window_bits.filter(|bits| *bits < WindowBits::MAX),
    };
    offer.agree(&response).map(|agreement| (response, agreement))
}

/// The agreement from the client's offers and the server's list; none if the server declined.
///
/// A response does not name the offer that it accepts, and offers differ in their hints about the client. If it matches several, the client
/// compresses with the tightest limits among them, so that the server can decompress whichever offer it accepted.
///
/// # Errors
/// When the client must fail the connection (RFC 7692 section 7.1, RFC 6455 section 9.1): the server answers with an extension that was not
/// offered, answers twice, or its response is invalid.
pub fn accept_response(offers: &[Offer], listed: &[Extension]) -> Result<Option<Agreement>, NegotiationError> {
    if let Some(other) = listed.iter().find(|extension| extension.name != PERMESSAGE_DEFLATE) {
        return Err(NegotiationError::NotOffered(other.name.clone()));
    }
    let extension = match listed {
        [] => return Ok(None),
        [extension] if offers.is_empty() => return Err(NegotiationError::NotOffered(extension.name.clone())),
        [extension] => extension,
        _ => return Err(NegotiationError::Twice),
    };
    let response = Response::read(extension)?;
    let fitting = offers.iter().filter_map(|offer| offer.agree(&response));
    // The server's side follows from its response alone, and is the same in all of them.
    let careful = fitting.reduce(|one, other| Agreement {
        client: CompressorParameters {
            takeover: one.client.takeover && other.client.takeover,
            window_bits: one.client.window_bits.min(other.client.window_bits),
        },
        ..one
    });
    careful.map(Some).ok_or_else(|| NegotiationError::FitsNoOffer {
        response: extension.to_string(),
        offers: offers_field(offers),
    })
}

/// The field's value for these offers, in order.
pub(super) fn offers_field(offers: &[Offer]) -> String {
    let elements: Vec<String> = offers.iter().map(|offer| offer.extension().to_string()).collect();
    elements.join(", ")
}

fn has_no_value(name: &'static str, parameter: &Parameter) -> Result<(), NegotiationError> {
    match &parameter.value {
        None => Ok(()),
        Some(value) => Err(NegotiationError::Value {
            name,
            value: value.clone(),
            expected: "it must have no value",
        }),
    }
}

/// A decimal integer from 8 to 15 without leading zeros (RFC 7692 sections 7.1.2.1 and 7.1.2.2); none if there is no value.
fn window_bits(name: &'static str, parameter: &Parameter) -> Result<Option<WindowBits>, NegotiationError> {
    let Some(value) = &parameter.value else {
        return Ok(None);
    };
    let is_canonical = value.bytes().all(|byte| byte.is_ascii_digit()) && !value.starts_with('0');
    let bits = value.parse().ok().filter(|_| is_canonical).and_then(WindowBits::new);
    bits.map(Some).ok_or_else(|| window_error(name, Some(value)))
}

fn window_error(name: &'static str, value: Option<&str>) -> NegotiationError {
    NegotiationError::Value {
        name,
        value: value.map_or("without a value".to_owned(), |value| format!("{value:?}")),
        expected: "it must be a number from 8 to 15 without leading zeros",
    }
}

impl fmt::Display for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.extension().fmt(f)
    }
}

impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.extension().fmt(f)
    }
}

#[cfg(test)]
mod tests;
