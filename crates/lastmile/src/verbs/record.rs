//! `lastmile record`: records the traffic of a page in an installed Chromium.

use crate::cli::record::RecordArgs;
use crate::exit::{Exit, UnavailableError};
use crate::{links, output};
use anyhow::{Context as _, bail};
use lastmile_link::LinkSpec;
use lastmile_record::Archive;
use lastmile_report::number::{counted, quantity};
use lastmile_report::screen::shell_word;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

/// Records a page.
///
/// # Errors
/// When there is no Chromium, the page cannot be loaded, or the file cannot be written.
pub(crate) fn record(args: &RecordArgs) -> anyhow::Result<Exit> {
    let url = page_url(&args.url)?;
    let link = args.link.as_deref().map(links::link).transpose()?;
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{}.har", host_of(&url))));
    if out.exists() && args.out.is_none() {
        bail!("{} exists; name the file with --out FILE", out.display());
    }
    let prefix = link.map_or_else(|| Ok(Vec::new()), |link| behind(&link))?;
    let recorded = lastmile_record::record(&url, &prefix, args.timeout);
    let (archive, is_whole) = recorded.map_err(|error| UnavailableError(error.to_string()))?;
    let text = serde_json::to_string_pretty(&archive.to_har()).expect("values are JSON");
    fs::write(&out, text)
        .with_context(|| format!("{} cannot be written; name another file with --out", out.display()))?;
    if !is_whole {
        let open = counted(archive.open_requests() as u64, "request");
        output::note(&format!(
            "the recording ended with {open} open, which are left out: streams that stay open, or responses that take longer than --timeout"
        ));
    }
    if let Some(status) = archive.page_status().filter(|status| *status >= 400) {
        output::note(&format!(
            "{url} answered with status {status}: this is the recording of an error page"
        ));
    }
    output::print_data(&format!("{}\n", summary(&archive, &out)))?;
    Ok(Exit::Done)
}

/// The command that starts another behind a link.
fn behind(link: &LinkSpec) -> anyhow::Result<Vec<OsString>> {
    let own = std::env::current_exe().context("lastmile cannot find its own program")?;
    let link = link.to_string();
    let words = ["link", link.as_str(), "--allow-net", "--quiet", "--"];
    Ok(std::iter::once(own.into_os_string())
        .chain(words.map(OsString::from))
        .collect())
}

fn summary(archive: &Archive, out: &std::path::Path) -> String {
    let counts = archive.counts();
    let mut text = format!(
        "{}: {}, {} received",
        out.display(),
        counted(counts.entries, "request"),
        quantity(counts.bytes as f64, "B")
    );
    if let Some(loaded) = archive.load_time() {
        text += &format!(", loaded after {}", quantity(loaded, "s"));
    }
    if counts.without_body > 0 {
        text += &format!("; {} without a body", counted(counts.without_body, "response"));
    }
    if counts.failed > 0 {
        text += &format!("; {} failed and are left out", counted(counts.failed, "request"));
    }
    format!(
        "{text}. Cookies and credentials were removed.\nnext: lastmile advise {}",
        shell_word(&out.display().to_string())
    )
}

/// The address as it is loaded: `https` where it names no scheme, `http` for this machine.
fn page_url(text: &str) -> anyhow::Result<String> {
    let url = match text.split_once("://") {
        Some(("http" | "https", rest)) if !rest.is_empty() => text.to_owned(),
        Some(_) => bail!("{text:?} is not the address of a page; write it like https://shop.example/"),
        None => {
            let host = text.split(['/', ':']).next().unwrap_or_default();
            if host.is_empty() {
                bail!("{text:?} is not the address of a page; write it like https://shop.example/");
            }
            let scheme = if ["localhost", "127.0.0.1", "host.lastmile"].contains(&host) {
                "http"
            } else {
                "https"
            };
            format!("{scheme}://{text}")
        }
    };
    Ok(url)
}

fn host_of(url: &str) -> String {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    let plain = |c: char| if c.is_alphanumeric() || c == '.' { c } else { '-' };
    host.rsplit('@').next().unwrap_or_default().chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_scheme_is_https_but_on_this_machine() {
        let url = |text| page_url(text).unwrap();
        assert_eq!(url("shop.example/a"), "https://shop.example/a");
        assert_eq!(url("localhost:8000"), "http://localhost:8000");
        assert_eq!(url("http://shop.example"), "http://shop.example");
        for wrong in ["file:///etc/passwd", "", "://x", "https://"] {
            assert!(page_url(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            host_of("https://user:word@shop.example:8443/../a?b"),
            "shop.example-8443"
        );
    }
}
