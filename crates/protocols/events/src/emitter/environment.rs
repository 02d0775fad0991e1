//! An emitter that is on where its host has a sensor for it, and costs nothing elsewhere.

use super::{Emitter, EmitterSettings};
use crate::uplink::{SensorAddress, SocketUplink};
use crate::{Source, Timestamp};
use std::io;
use std::time::Duration;

/// The variable that names the sensor's socket.
pub const SENSOR_VARIABLE: &str = "LASTMILE_SENSOR";
/// How long one attempt to reach the sensor may take: our own choice.
const PATIENCE: Duration = Duration::from_secs(5);

impl Emitter {
    /// The emitter of this process where the variable [`SENSOR_VARIABLE`] names a sensor's socket; none where it does not.
    ///
    /// # Errors
    /// When the name is none that a source may have, or the system gives no thread.
    pub fn from_environment(name: &str, settings: EmitterSettings) -> io::Result<Option<Self>> {
        let Some(path) = std::env::var_os(SENSOR_VARIABLE).filter(|path| !path.is_empty()) else {
            return Ok(None);
        };
        let incarnation = Timestamp::now().unix_nanoseconds() as u64;
        let source = Source::new(name, incarnation).map_err(io::Error::other)?;
        let uplink = SocketUplink::new(SensorAddress::Path(path.into()), PATIENCE);
        Self::start(source, settings, Box::new(uplink)).map(Some)
    }
}
