//! The settings of a connection, and their defaults.

use lastmile_units::{ByteCount, Seed};
use std::time::Duration;

/// The settings of one end of a connection. The defaults are those of a recent Linux with Cubic.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Largest IP packet, headers included.
    pub mtu: u16,
    /// Segments that may be sent before the first acknowledgement (RFC 6928: 10).
    pub initial_window: u32,
    /// When a segment that is not full may leave while others are outstanding.
    pub nagle: Nagle,
    /// The congestion control algorithm.
    pub congestion_control: CongestionControl,
    /// The seed of random choices: the step at which BBR's cycle of gains begins. Each connection makes its own choices, by its
    /// initial sequence number.
    pub seed: Seed,
    /// Whether RFC 7323 timestamps are offered (12 bytes of every segment).
    pub timestamps: bool,
    /// The floor of the variance term of the retransmission timeout. RFC 6298 asks for 1 s in all; Linux takes 200 ms.
    pub minimum_timeout_variance: Duration,
    /// How long an acknowledgement may wait for a second segment once the connection has warmed up (Linux: 40 ms).
    pub delayed_acknowledgement: Duration,
    /// How many segments are acknowledged at once when data begins to flow (Linux: 16).
    pub quick_acknowledgements: u32,
    /// The receive window before auto-tuning (Linux: 64,240 B, of a buffer of 128 KiB).
    pub receive_window: ByteCount,
    /// The largest receive window of auto-tuning (Linux: half of a buffer of 6 MiB).
    pub receive_window_maximum: ByteCount,
    /// The bytes that may be written before a write has to wait, until the congestion window needs more (Linux: 87,040 B, for
    /// twice an initial window).
    pub send_buffer: ByteCount,
    /// The most the send buffer may grow to (Linux: 4 MiB).
    pub send_buffer_maximum: ByteCount,
    /// The timeout of a first SYN, and of a first SYN-ACK (RFC 6298 section 2.1: 1 s; RFC 2988 and Linux 2.4: 3 s).
    pub syn_timeout: Duration,
    /// How often a SYN is repeated before its timeout begins to double (Linux's `tcp_syn_linear_timeouts`: 4 since Linux 6.5, 0 before). A
    /// SYN-ACK is not.
    pub syn_linear_repetitions: u32,
    /// How often a SYN is repeated before the attempt fails, not counting those before its timeout doubles (Linux: 6,
    /// which is 131 s and the lateness of its timers); and a SYN-ACK.
    pub syn_retries: u32,
    /// How often the same data is resent before the connection fails (Linux: 15).
    pub retries: u32,
    /// How long a connection stays in TIME-WAIT (Linux: 60 s).
    pub time_wait: Duration,
}

/// When a segment that is not full may leave while others are outstanding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nagle {
    /// At once (`TCP_NODELAY`).
    Off,
    /// When no other segment that was not full is outstanding (Minshall, Saito, Mogul and Verghese 1999; what Linux does).
    Minshall,
    /// When nothing is outstanding (RFC 896; RFC 9293 section 3.7.4).
    Classic,
}

/// The congestion control algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CongestionControl {
    /// RFC 9438, with HyStart.
    Cubic,
    /// RFC 5681, with byte counting (RFC 3465).
    Reno,
    /// BBR version 1, with pacing, as in Linux.
    Bbr,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mtu: 1500,
            initial_window: 10,
            nagle: Nagle::Minshall,
            congestion_control: CongestionControl::Cubic,
            seed: Seed::new(0),
            timestamps: true,
            minimum_timeout_variance: Duration::from_millis(200),
            delayed_acknowledgement: Duration::from_millis(40),
            quick_acknowledgements: 16,
            receive_window: ByteCount::new(64_240),
            receive_window_maximum: ByteCount::new(3 << 20),
            send_buffer: ByteCount::new(87_040),
            send_buffer_maximum: ByteCount::new(4 << 20),
            syn_timeout: Duration::from_secs(1),
            syn_linear_repetitions: 4,
            syn_retries: 6,
            retries: 15,
            time_wait: Duration::from_secs(60),
        }
    }
}
