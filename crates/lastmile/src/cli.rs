//! What can be typed? The verbs, their flags, and what the help says of them.

use crate::output::Format;
use crate::verbs::link::{Listen, Remote};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use lastmile_study::cost::Choice;
use std::ffi::OsString;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

/// What a delivery choice costs on the link your users really have
///
/// lastmile measures encodings, compression and ways of delivery on your own traffic, over the links that you name, in a
/// simulated network: no root, the same figures every time. stdout is data, stderr is progress and remarks.
#[derive(Debug, Parser)]
#[command(name = "lastmile", version, max_term_width = 120, after_help = EXIT_CODES)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const EXIT_CODES: &str = "\
Exit codes:
    0    all went well
    2    wrong usage, configuration or input: the message names the file, the place and the remedy
    3    this machine or this build cannot: the message says what is missing
    4    some cells failed; the results of the others are kept
   99    a threshold or a --fail-on rule was broken (said even where cells failed too)
  130    stopped by Ctrl-C; a run says how to resume it
`lastmile link` ends as its command does.

NO_COLOR=1 turns colours off; there are none where stdout is no terminal.";

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Advise(AdviseArgs),
    Run(RunArgs),
    Report(ReportArgs),
    Compare(CompareArgs),
    Inspect(InspectArgs),
    Studies(StudiesArgs),
    Link(LinkArgs),
    Profiles(ProfilesArgs),
    Doctor(DoctorArgs),
    Completions(CompletionsArgs),
    /// Print the manual page of the whole tool
    #[command(after_help = "Examples:
  lastmile man | man -l -                              read it
  lastmile man > ~/.local/share/man/man1/lastmile.1    install it")]
    Man,
}

/// Advise on compression: what to set for your traffic on your users' links
///
/// Your traffic is replayed in a simulated network under every setting worth trying. The answer says which to use for each kind of
/// response, what that saves, where it stops paying, and how nginx, Apache and Caddy are told.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile advise shop.har --link wpt/3g              a page that was saved
  lastmile advise dist/ --link wpt/3g,wpt/cable       two links
  lastmile advise shop.har --link 'wpt/3g+loss=1%'    a link with changes
  lastmile advise shop.har --link wpt/3g --format json > advice.json

Save a HAR in a browser's network panel: \"Save all as HAR with content\", caches off.
`lastmile profiles list` names the links.")]
pub(crate) struct AdviseArgs {
    /// What is replayed: a HAR, a folder of response bodies, or a file of JSON lines
    #[arg(value_name = "TRAFFIC")]
    pub(crate) traffic: PathBuf,

    /// The links, with commas between: wpt/3g,'seeds/dialup-56k+loss=1%'
    #[arg(long, value_name = "LINKS", required = true)]
    pub(crate) link: Vec<String>,

    /// The protocol: HTTP/1.1 over six connections a host, or HTTP/2 over one
    #[arg(long, value_enum, default_value = "http/1.1")]
    pub(crate) protocol: Protocol,

    /// Connections without TLS [default: with TLS]
    #[arg(long)]
    pub(crate) no_tls: bool,

    /// Connections that stand before the first request, their windows grown [default: each is opened when first needed]
    #[arg(long)]
    pub(crate) warm: bool,

    /// How often each page is loaded under each setting, from 1 [default: 7]
    #[arg(long, value_name = "N")]
    pub(crate) repeats: Option<NonZeroU64>,

    /// The root of every random choice, from 0 to 2^64 - 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) cpu: CpuArg,

    /// How many times slower than the cost table's machine the client computes [default: 4, a telephone]
    #[arg(long, value_name = "FACTOR")]
    pub(crate) slow_client: Option<f64>,

    /// How many replays run at once; the figures do not depend on it [default: the number of cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) format: FormatArg,

    /// The report's file [default: runs/advise-DATE-TIME/report.html, in UTC]
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Write no report
    #[arg(long, conflicts_with = "report")]
    pub(crate) no_report: bool,
}

/// The protocol between client and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    /// HTTP/1.1 over six connections a host, as browsers do
    #[value(name = "http/1.1")]
    Http11,
    /// HTTP/2 over one connection a host
    #[value(name = "h2")]
    H2,
}

/// Run a study: every cell, repeated, measured, summed up
///
/// A study varies some factors, runs every combination of their levels (a cell) a number of times, and publishes each figure with
/// its spread. The run is kept in a folder: the study as run, its journal, report.html.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile run bulk                                       a built-in study
  lastmile run mine.toml --format json > mine.json        a study of your own
  lastmile run mine.toml --dry-run                        which cells, how long
  lastmile run bulk --fail-on 'p95(transfer_time)>20s'    exit 99 where slower
  lastmile run --resume runs/bulk-20260131-142359         go on with a run

Write a study of your own by beginning with one: lastmile studies show bulk > mine.toml")]
pub(crate) struct RunArgs {
    /// A built-in study's name (see `lastmile studies`), or the path of a study's TOML file
    #[arg(value_name = "STUDY|FILE.toml", required_unless_present = "resume")]
    pub(crate) study: Option<String>,

    /// How often each cell runs, from 1 [default: the study's]
    #[arg(long, value_name = "N")]
    pub(crate) repeats: Option<NonZeroU64>,

    /// The root of every random choice, from 0 to 2^64 - 1 [default: the study's]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Where cells run: sim in virtual time; emu over network namespaces, in real time [default: the study's]
    #[arg(long, value_enum)]
    pub(crate) world: Option<World>,

    /// With --world emu: every part, repeat and idle wait of the study, and not only its plan of some minutes
    #[arg(long)]
    pub(crate) full: bool,

    #[command(flatten)]
    pub(crate) cpu: CpuArg,

    /// Go on with a run that was cut off: the folder RUN, or else the latest of STUDY
    #[arg(long, value_name = "RUN", num_args = 0..=1, conflicts_with_all = ["dry_run", "out"])]
    pub(crate) resume: Option<Option<PathBuf>>,

    /// Keep the packets: a pcapng a vantage point, in the run's folder under captures/
    ///
    /// Each world of the study has two, the client's and the server's, with whole packets: Wireshark opens them. All repeats of a cell
    /// are in one file, unless the study makes a fresh world for each. A file is about a tenth larger than what is delivered, more over a lossy link: 5
    /// repeats of 10 MB make two of 54 MB. The figures do not depend on it. With --resume, what is yet to be run is kept.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) capture: bool,

    /// Print the cells and the expected time, and run nothing
    #[arg(long, conflicts_with = "format")]
    pub(crate) dry_run: bool,

    /// How many cells run at once; the figures do not depend on it [default: the number of cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) format: FormatArg,

    /// The folder that keeps the run [default: runs/STUDY-DATE-TIME, in UTC]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Write no report.html
    #[arg(long)]
    pub(crate) no_report: bool,

    /// Exit 99 where a figure of a cell is like this: STATISTIC(FIGURE) > BOUND, or >=, <, <=
    ///
    /// The statistic is mean, min, max, or p0 to p100; the bound carries its unit (20s, 1MB, 1Mbit/s; none for counts). May be
    /// given several times. A figure that no cell has breaks the rule too.
    #[arg(long, value_name = "RULE")]
    pub(crate) fail_on: Vec<String>,
}

/// Show a run again: its tables, its record, its report
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile report runs/bulk-20260131-142359                 its tables
  lastmile report runs/bulk-20260131-142359 --format csv    a row a figure
  lastmile report runs/bulk-20260131-142359 --html          report.html anew

A run that was cut off is shown as far as it came.")]
pub(crate) struct ReportArgs {
    /// The run's folder
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,

    #[command(flatten)]
    pub(crate) format: FormatArg,

    /// Write the folder's report.html anew, and print its path
    #[arg(long, conflicts_with = "format")]
    pub(crate) html: bool,
}

/// Compare two runs: what changed, and is it more than noise?
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile compare runs/bulk-20260131-142359 runs/bulk-20260201-091500
  lastmile compare before.json after.json --fail-on 'p95(transfer_time)>+5%'
  lastmile compare before.json after.json --fail-on 'p95>+5%' --format md

The last two exit with 99 where a figure grew by more than 5 %.")]
pub(crate) struct CompareArgs {
    /// The run to compare with: a folder, or a file that `lastmile run --format json` printed
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,

    /// The run to compare, likewise
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,

    /// Exit 99 where a figure changed like this, in per cent: STATISTIC(FIGURE)>+5%, or <-5%
    ///
    /// The statistic is mean, median, p95 or p99. Without (FIGURE), > is held against every figure of which less is better, and <
    /// against those of which more is. May be given several times.
    #[arg(long, value_name = "RULE")]
    pub(crate) fail_on: Vec<lastmile_report::compare::rule::Rule>,

    #[command(flatten)]
    pub(crate) format: FormatArg,
}

/// Inspect a capture: flows, retransmissions, round trips, HTTP
///
/// Reads pcap and pcapng, of any size, in one pass. Says of each TCP connection how long it took, what each side sent, sent again and
/// received out of order, how long acknowledgements took, and what was asked and answered in clear HTTP/1.1. A file whose end is cut
/// off is read as far as it goes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile inspect client.pcapng                         tables
  lastmile inspect client.pcapng --html client.html      with time and sequence
  lastmile inspect client.pcapng --format json | jq .http
  lastmile inspect client.pcapng --segments | less       each segment
  ssh server tcpdump -w - port 80 | lastmile inspect -

Near the sender of the data, round trips are whole, and every segment that was
sent again is seen twice. Capture there where you can.")]
pub(crate) struct InspectArgs {
    /// The capture, pcap or pcapng; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) format: FormatArg,

    /// Write a page with the figures and time-sequence plots of the connections that carried most
    #[arg(long, value_name = "PAGE")]
    pub(crate) html: Option<PathBuf>,

    /// Print a line for each TCP segment instead of what they come to: text, or with --format json an object
    ///
    /// Numbers count from the beginning of their connection. The objects are of the schema lastmile/segment/1, and have both addresses.
    /// Lines are printed as the capture is read.
    #[arg(long, conflicts_with = "html")]
    pub(crate) segments: bool,
}

/// List the built-in studies, or show one
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  lastmile studies                          their names and questions
  lastmile studies show bulk                one, as its TOML file
  lastmile studies show bulk > mine.toml    the beginning of your own"
)]
pub(crate) struct StudiesArgs {
    #[command(subcommand)]
    pub(crate) verb: Option<StudiesVerb>,

    #[command(flatten)]
    pub(crate) format: FormatArg,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StudiesVerb {
    /// Print a built-in study's TOML file
    Show {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// List the link profiles, show a link, or tell two apart
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile profiles list                          all, with their figures
  lastmile profiles list wpt                      those of one set
  lastmile profiles show wpt/3g                   one, with its figures' source
  lastmile profiles show 'wpt/3g+loss=1%'         a profile with changes
  lastmile profiles diff wpt/3g chrome/slow-3g    in what two differ")]
pub(crate) struct ProfilesArgs {
    #[command(subcommand)]
    pub(crate) verb: ProfilesVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfilesVerb {
    /// List the link profiles with their figures
    List {
        /// Only those of this set: chrome, wpt, seeds ... [default: all]
        #[arg(value_name = "SET")]
        set: Option<String>,
        #[command(flatten)]
        format: FormatArg,
    },
    /// Show all there is to know of a link, its figures' source among it
    Show {
        /// A profile, with changes or without: wpt/3g, 'wpt/3g+loss=1%'
        #[arg(value_name = "LINK")]
        link: String,
        #[command(flatten)]
        format: FormatArg,
    },
    /// Show in what two links differ
    Diff {
        /// One link
        #[arg(value_name = "A")]
        a: String,
        /// The other
        #[arg(value_name = "B")]
        b: String,
        #[command(flatten)]
        format: FormatArg,
    },
}

/// Put a command behind a link: its kernel, its sockets and its packets are real, the link is the model
///
/// COMMAND runs with its whole tree of processes in network namespaces of its own, as root or as any user, without set-up. down is
/// towards COMMAND. What listens on this machine's loopback address it reaches as host.lastmile:PORT, by TCP: its packets cross the
/// link to a host at the far end, whose proxy carries each connection on, without delay. Nothing else is reached, unless --allow-net
/// is given. Everything that COMMAND started is gone when it ends, and when lastmile does, however it is killed.
///
/// stdout is COMMAND's alone, and so is the exit code: 128 + n where signal n ended it, 127 where there is no such program, 126 where
/// it cannot be run. SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1 and SIGUSR2 are passed on to it. A line on stderr at the end gives
/// bytes and packets, drops by cause, the longest queue, and how late packets were handed over; where the 99th percentile of that is
/// above its bound (5 % of the time that a full packet takes in the faster direction, and at least 0.5 ms), or packets were lost
/// beside the link, it says INVALID.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile link wpt/3g -- curl http://host.lastmile:8000/   a local service
  lastmile link 'wpt/3g+loss=1%' --capture caps -- make it  keep the packets
  lastmile link wpt/cable --allow-net -- git clone URL      the outside too
  lastmile link wpt/3g -- bash                              to try things in
  lastmile link wpt/3g --listen 8080 --to localhost:80      without wrapping

`lastmile profiles list` names the links.")]
pub(crate) struct LinkArgs {
    /// The link: a profile, with changes or without: wpt/3g, 'wpt/3g+loss=1%'
    #[arg(value_name = "PROFILE")]
    pub(crate) link: String,

    /// Carry connections instead of running a command: take them here, on 127.0.0.1 where no address is given
    ///
    /// Each crosses the link and is carried on to the host and port of --to, until Ctrl-C or SIGTERM. Exit code 0.
    #[arg(long, value_name = "[ADDRESS:]PORT", requires = "to", conflicts_with = "command")]
    pub(crate) listen: Option<Listen>,

    /// Where the connections of --listen lead, as this machine reaches it
    #[arg(long, value_name = "HOST:PORT", requires = "listen", conflicts_with = "command")]
    pub(crate) to: Option<Remote>,

    /// Write packets to near.pcapng, far.pcapng (what each end sent and received) and drops.pcapng (with causes) in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) capture: Option<PathBuf>,

    /// The root of the link's random choices, from 0 to 2^64 - 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// How senders at both ends control congestion, by the kernel's name: cubic, bbr, reno
    #[arg(long, value_name = "NAME", default_value = "cubic")]
    pub(crate) congestion_control: String,

    /// Let COMMAND reach the outside network too, over the link
    ///
    /// Carried are TCP to any IPv4 address, and questions for names, to this machine's name servers. No other UDP (so no QUIC), no IPv6,
    /// and no ICMP: a ping is answered at the link's far end. A connection that is refused outside is first made, and then reset.
    #[arg(long, conflicts_with = "listen")]
    pub(crate) allow_net: bool,

    /// Say nothing at the end
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// How the last line on stderr is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", conflicts_with = "quiet")]
    pub(crate) format: SummaryFormat,

    /// What is run, with its arguments
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "listen")]
    pub(crate) command: Vec<OsString>,
}

/// How a summary is written in one line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryFormat {
    /// For a person
    #[default]
    Text,
    /// One JSON object, as its schema has it
    Json,
}

/// Say what this machine can do for the emulated world, and the remedy where it cannot
///
/// Everything is tried, in about two seconds: namespaces are entered, hosts attached, and packets timed over a link. "limited" is what
/// the emulated world works without, only not as well or not for everything. The simulated world works everywhere.
#[derive(Debug, Args)]
#[command(
    after_help = "Exits with 0 where the emulated world works, and with 3 where it does not.

Examples:
  lastmile doctor                     what is there, what is not, what to do
  lastmile doctor --format json       for a program
  sudo lastmile doctor                the same for root"
)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) format: FormatArg,
}

/// Print what makes a shell complete verbs and flags
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile completions fish > ~/.config/fish/completions/lastmile.fish
  lastmile completions zsh > \"${fpath[1]}/_lastmile\"
  source <(lastmile completions bash)                  in ~/.bashrc")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct FormatArg {
    /// How the record is printed on stdout
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct CpuArg {
    /// What computing costs: reference, measured, free, or a cost table's file [default: reference]
    ///
    /// reference is a table that ships with lastmile: the same figures everywhere. measured is one measured here before anything
    /// runs, in about ten seconds, and is kept in the run's folder as costs.toml. free lets computing take no time.
    #[arg(long, value_name = "TABLE")]
    pub(crate) cpu: Option<Choice>,
}

/// Where cells run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum World {
    /// In virtual time
    Sim,
    /// Over network namespaces, in real time
    Emu,
}
