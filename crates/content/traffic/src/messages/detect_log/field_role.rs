//! What the fields of logs are for, by their names.

/// What a key is for, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Time,
    Level,
    Direction,
    Connection,
    /// Another field of a log.
    Envelope,
    Payload,
}

/// Names of fields, in lower case and without punctuation: our own choice, of what loggers write.
const ROLES: [(Role, &str); 6] = [
    (
        Role::Time,
        "ts time timestamp datetime date when at timems tsms timestampms epoch asctime",
    ),
    (Role::Level, "level lvl severity loglevel levelname"),
    (Role::Direction, "direction dir way flow"),
    (
        Role::Connection,
        "connection conn connectionid connid cid client clientid session sessionid socket socketid sid peer peerid remote remoteaddr ws wsid",
    ),
    (
        Role::Envelope,
        "logger loggername host hostname pid process thread threadname tid service app component module caller file line traceid spanid \
         requestid reqid seq opcode size len length bytes env version v",
    ),
    (Role::Payload, "payload data frame body content message msg raw text"),
];

/// The role of a field with this key, in any spelling: `conn_id`, `connId`.
pub(super) fn role(key: &str) -> Option<Role> {
    let letters: String = key
        .chars()
        .filter(|letter| letter.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    let known = ROLES
        .iter()
        .find(|(_, names)| names.split_whitespace().any(|name| name == letters));
    known.map(|(role, _)| *role)
}
