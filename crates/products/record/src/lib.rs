//! Loads a page in an installed Chromium, and records its traffic, bodies included, as a HAR file.
//!
//! `chromium` drives the browser over its debugging pipe, and `archive` makes the file of what it reports.

mod archive;
mod chromium;

pub use archive::{Archive, Counts};
use chromium::{Browser, Message};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::time::{Duration, Instant};

/// How long nothing may be requested after the page is loaded until the recording ends: our own choice.
const QUIET: Duration = Duration::from_secs(2);

/// How long nothing may come of requests that are still open, such as streams of events, until the recording ends without them: our own choice.
const STALLED: Duration = Duration::from_secs(10);

/// How long a new tab may settle before the page is loaded: our own choice.
const SETTLING: Duration = Duration::from_millis(300);

/// A page that cannot be recorded here: what is missing or was refused, and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RecordError(String);

/// Records a page, and returns whether all of it came in time. Chromium is started by the command `prefix`, where that is not empty: it is
/// given the program and its arguments.
///
/// # Errors
/// When there is no Chromium, it ends, or the page cannot be loaded.
pub fn record(url: &str, prefix: &[OsString], timeout: Duration) -> Result<(Archive, bool), RecordError> {
    let mut browser = Browser::start(prefix)?;
    let mut archive = Archive::new(url);
    let is_whole = load(&mut browser, &mut archive, url, timeout)?;
    browser.close();
    if let Some(why) = archive.failure() {
        return Err(RecordError(format!("{url} cannot be loaded: {why}")));
    }
    if archive.missed() > 0 {
        let missed = archive.missed();
        return Err(RecordError(format!(
            "Chromium did not report {missed} requests of {url}; record it again"
        )));
    }
    Ok((archive, is_whole))
}

/// Loads the page, and returns whether all of it came in time.
fn load(browser: &mut Browser, archive: &mut Archive, url: &str, timeout: Duration) -> Result<bool, RecordError> {
    let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}), None)?;
    let attach = json!({"targetId": target["targetId"], "flatten": true});
    let session = browser.call("Target.attachToTarget", &attach, None)?["sessionId"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    browser.call("Page.enable", &json!({}), Some(&session))?;
    for (method, params) in watching() {
        browser.call(method, &params, Some(&session))?;
    }
    // Once the renderer runs, nothing that it reports is lost.
    let expression = "document.body.innerHTML = '<style>p { color: red }</style><p>a</p>'; document.body.offsetHeight";
    browser.call("Runtime.evaluate", &json!({"expression": expression}), Some(&session))?;
    std::thread::sleep(SETTLING);
    let navigated = browser.call("Page.navigate", &json!({"url": url}), Some(&session))?;
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
