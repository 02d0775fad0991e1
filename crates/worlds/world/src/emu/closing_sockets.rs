//! Reads whether a host's kernel still delivers data or closes connections for programs that have ended.

use std::fs;

/// The states in `/proc/net/tcp` of a socket that was closed on this side, and whose last byte is not acknowledged (FIN_WAIT1,
/// LAST_ACK and CLOSING in the kernel's tcp_states.h).
const CLOSING: [&str; 3] = ["04", "09", "0B"];

/// Whether the network namespace that the calling thread is in is closing connections.
pub(super) fn is_closing() -> bool {
    closing_sockets(&sockets()).next().is_some()
}

/// Whether it still has data to deliver for connections that were closed, and not only their end.
pub(super) fn has_undelivered() -> bool {
    closing_sockets(&sockets()).any(|unacknowledged| unacknowledged > 1)
}

fn sockets() -> String {
    fs::read_to_string("/proc/thread-self/net/tcp").unwrap_or_default()
}

/// The unacknowledged bytes of each connection of a table that is being closed (proc_net_tcp.rst); the end of the stream counts as one.
fn closing_sockets(table: &str) -> impl Iterator<Item = u64> {
    table.lines().skip(1).filter_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(3);
        let state = fields.next()?;
        let (sending, _) = fields.next()?.split_once(':')?;
        let unacknowledged = u64::from_str_radix(sending, 16).ok()?;
        CLOSING.contains(&state).then_some(unacknowledged)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_closed_with_data_on_its_way_is_told_from_what_is_open() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue\n\
            \u{20}  0: 0100000A:1F90 0200000A:0050 01 00000500:00000000 00:00000000 00000000\n\
            \u{20}  1: 0100000A:1F91 0200000A:0050 04 00000500:00000000 01:00000014 00000000\n\
            \u{20}  2: 0100000A:1F92 0200000A:0050 09 00000001:00000000 01:00000014 00000000\n";
        let found: Vec<_> = closing_sockets(table).collect();
        assert_eq!(found, [0x500, 1]);
    }
}
