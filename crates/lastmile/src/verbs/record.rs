//! `lastmile record`: records the traffic of a page in an installed Chromium.

mod archive;
mod chromium;

use crate::cli::record::RecordArgs;
use crate::exit::{Exit, UnavailableError};
use crate::{links, output};
use anyhow::{Context as _, bail};
use archive::Archive;
use chromium::{Browser, Message};
use lastmile_report::number::{counted, quantity};
use lastmile_report::screen::shell_word;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long nothing may be requested after the page is loaded until the recording ends: our own choice.
const QUIET: Duration = Duration::from_secs(2);

/// How long nothing may come of requests that are still open, such as streams of events, until the recording ends without them: our own choice.
const STALLED: Duration = Duration::from_secs(10);

/// How long a new tab may settle before the page is loaded: our own choice.
const SETTLING: Duration = Duration::from_millis(300);

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
    let mut browser = Browser::start(link.as_ref())?;
    let mut archive = Archive::new(&url);
    let is_whole = load(&mut browser, &mut archive, &url, args.timeout)?;
    browser.close();
    if let Some(why) = archive.failure() {
        return Err(UnavailableError(format!("{url} cannot be loaded: {why}")).into());
    }
    if archive.missed() > 0 {
        let missed = counted(archive.missed(), "request");
        return Err(UnavailableError(format!(
            "Chromium did not report {missed} of {url}; nothing was written, record it again"
        ))
        .into());
    }
    let text = serde_json::to_string_pretty(&archive.to_har()).expect("values are JSON");
    fs::write(&out, text)
        .with_context(|| format!("{} cannot be written; name another file with --out", out.display()))?;
    if !is_whole {
        let open = counted(archive.open_requests() as u64, "request");
        output::note(&format!(
            "the recording ended with {open} open, which are left out: streams that stay open, or responses that take longer than --timeout"
        ));
    }
    output::print_data(&format!("{}\n", summary(&archive, &out)))?;
    Ok(Exit::Done)
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

/// Loads the page, and returns whether all of it came in time.
fn load(browser: &mut Browser, archive: &mut Archive, url: &str, timeout: Duration) -> anyhow::Result<bool> {
    let target = browser.call("Target.createTarget", json!({"url": "about:blank"}), None)?;
    let attach = json!({"targetId": target["targetId"], "flatten": true});
    let session = browser.call("Target.attachToTarget", attach, None)?["sessionId"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    browser.call("Page.enable", json!({}), Some(&session))?;
    for (method, params) in watching() {
        browser.call(method, params, Some(&session))?;
    }
    // Once the renderer runs, nothing that it reports is lost.
    let expression = "document.body.innerHTML = '<style>p { color: red }</style><p>a</p>'; document.body.offsetHeight";
    browser.call("Runtime.evaluate", json!({"expression": expression}), Some(&session))?;
    std::thread::sleep(SETTLING);
    let navigated = browser.call("Page.navigate", json!({"url": url}), Some(&session))?;
    if let Some(why) = navigated["errorText"].as_str() {
        archive.fail(why);
        return Ok(true);
    }
    let deadline = Instant::now() + timeout;
    let mut last_change = Instant::now();
    loop {
        let now = Instant::now();
        let is_loaded = archive.is_loaded();
        if is_loaded && archive.open_requests() == 0 && now >= last_change + QUIET {
            return Ok(true);
        }
        if now >= deadline || is_loaded && now >= last_change + STALLED {
            return Ok(false);
        }
        let Some(message) = browser.receive(QUIET.min(deadline - now))? else {
            continue;
        };
        last_change = Instant::now();
        match message {
            Message::Event {
                method,
                params,
                session: from,
            } => {
                if method == "Target.attachedToTarget" {
                    // A frame of another site or a worker: what it requests counts, too.
                    let other = params["sessionId"].as_str().unwrap_or_default().to_owned();
                    for (method, params) in watching() {
                        browser.send(method, &params, Some(&other))?;
                    }
                    browser.send("Runtime.runIfWaitingForDebugger", &json!({}), Some(&other))?;
                }
                if let Some(id) = archive.hear(&method, &params, from == session) {
                    let asked = browser.send("Network.getResponseBody", &json!({"requestId": id}), Some(&from))?;
                    archive.expect_body(asked, &id);
                }
            }
            Message::Answer { id, result } => archive.take_body(id, &result),
        }
    }
}

/// What has a target report its network, and the targets that it starts.
fn watching() -> [(&'static str, Value); 3] {
    const BUFFER: u64 = 1 << 30;
    let buffers = json!({"maxTotalBufferSize": BUFFER, "maxResourceBufferSize": BUFFER});
    let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    [
        ("Network.enable", buffers),
        ("Network.setBypassServiceWorker", json!({"bypass": true})),
        ("Target.setAutoAttach", attach),
    ]
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
