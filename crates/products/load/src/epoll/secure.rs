//! TLS over a socket of the event loop: rustls decides, and this carries its bytes.

use super::socket::{Outcome, Socket};
use crate::tls::ClientTls;
use rustls::ClientConnection;
use std::io::{self, Read, Write};

/// TLS of one connection.
#[derive(Debug)]
pub(super) struct Secure {
    connection: Box<ClientConnection>,
    /// The protocol that the server must choose; none where it need not choose any.
    needs: Option<&'static [u8]>,
}

impl Secure {
    /// TLS of a new connection.
    ///
    /// # Errors
    /// When rustls refuses its own configuration.
    pub(super) fn new(tls: &ClientTls) -> Result<Self, rustls::Error> {
        Ok(Self {
            connection: Box::new(tls.connection()?),
            needs: tls.needs(),
        })
    }

    /// Whether the server has chosen the protocol that it must, once the handshake is complete.
    pub(super) fn has_protocol(&self) -> bool {
        self.needs
            .is_none_or(|needed| self.connection.alpn_protocol() == Some(needed))
    }

    /// Takes content to be sent, as far as there is room for it.
    pub(super) fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        self.connection.writer().write(content)
    }

    /// Sends what is to be sent, as far as the socket has room.
    pub(super) fn flush(&mut self, socket: &Socket) -> io::Result<()> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut SocketWriter(socket)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                written => written?,
            };
        }
        Ok(())
    }

    /// Takes bytes that the socket received, and moves their content to the end of `content`. Returns whether they completed the
    /// handshake. What is to be answered waits for [`Self::flush`].
    ///
    /// # Errors
    /// When they are no TLS that is accepted.
    pub(super) fn receive(&mut self, mut bytes: &[u8], content: &mut Vec<u8>) -> Result<bool, rustls::Error> {
        let was_handshaking = self.connection.is_handshaking();
        while !bytes.is_empty() {
            // A slice is read without an error; full buffers are emptied below.
            let taken = self.connection.read_tls(&mut bytes).unwrap_or(0);
            let state = self.connection.process_new_packets()?;
            let ready = state.plaintext_bytes_to_read();
            let filled = content.len();
            content.resize(filled + ready, 0);
            let read = self.connection.reader().read(&mut content[filled..]).unwrap_or(0);
            content.truncate(filled + read);
            if taken == 0 {
                break;
            }
        }
        Ok(was_handshaking && !self.connection.is_handshaking())
    }

    /// Says goodbye, as far as the socket has room for that.
    pub(super) fn close(&mut self, socket: &Socket) {
        self.connection.send_close_notify();
        // The connection is closed in any case.
        let _ = self.flush(socket);
    }
}

struct SocketWriter<'a>(&'a Socket);

impl Write for SocketWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.send(bytes)? {
            Outcome::Bytes(sent) => Ok(sent),
            Outcome::WouldBlock => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
