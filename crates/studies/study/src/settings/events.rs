//! The settings of event monitoring, one by one, so that each can be a factor.

use super::choice::choice;

choice! {
    /// What is measured of a monitoring system.
    EventTest {
        /// Applications submit events one after another.
        Sustained = "sustained",
        /// Applications submit groups of four events with pauses between them, and do the same without events.
        Delayed = "delayed",
        /// Clients receive the events while applications submit them.
        Subscription = "subscription",
        /// Clients ask for the events that are stored.
        Query = "query",
    }
}

choice! {
    /// The channel that has the link of a cell; the others are ideal.
    EventChannel {
        /// Between each application and the sensor.
        ApplicationSensor = "application-sensor",
        /// Between each sensor and the monitor.
        SensorMonitor = "sensor-monitor",
        /// To each client, to which events are pushed.
        SensorClient = "sensor-client",
        /// To each client, which asks for events.
        ClientMonitor = "client-monitor",
    }
}

choice! {
    /// What an acknowledged event survives.
    Durability {
        /// Nothing but the present process.
        Memory = "memory",
        /// The end of the process.
        Process = "process",
        /// A power failure.
        Power = "power",
    }
}

choice! {
    /// What an application does with an event for which its buffer has no room.
    FullBuffer {
        /// It waits for room.
        Block = "block",
        /// It drops the event, and counts it.
        Drop = "drop",
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::Settings;

    #[test]
    fn every_value_prints_as_it_is_written() {
        let written = "channel = 'sensor-client'\ndurability = 'power'\nevent_ratio = '5 %'\nfull_buffer = 'drop'\ntest = 'subscription'";
        let levels = toml::from_str::<Settings>(written).unwrap().levels();
        let printed: Vec<_> = levels.values().map(String::as_str).collect();
        assert_eq!(printed, ["sensor-client", "power", "5 %", "drop", "subscription"]);
    }
}
