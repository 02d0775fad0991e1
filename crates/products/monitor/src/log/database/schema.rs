//! The tables, and how the connection that writes them is set.

use super::FORMAT;
use rusqlite::Connection;
use std::time::Duration;

/// `reach` is the latest time of all chunks up to this one, so that it only grows: the first chunk that may hold an event since a time is found
/// by it. `place` says where a subject is; subject 0 stands for chunks with too many subjects to list.
const TABLES: &str = "
    CREATE TABLE chunk(position INTEGER PRIMARY KEY, events INTEGER NOT NULL, source INTEGER NOT NULL, first INTEGER NOT NULL,
        reach INTEGER NOT NULL, size INTEGER NOT NULL, bytes BLOB NOT NULL);
    CREATE INDEX chunk_reach ON chunk(reach);
    CREATE TABLE subject(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
    CREATE TABLE place(subject INTEGER NOT NULL, position INTEGER NOT NULL, earliest INTEGER NOT NULL, latest INTEGER NOT NULL,
        PRIMARY KEY(subject, position)) WITHOUT ROWID;
    CREATE TABLE source(id INTEGER PRIMARY KEY, name TEXT NOT NULL, incarnation INTEGER NOT NULL, next INTEGER NOT NULL,
        stored INTEGER NOT NULL, released INTEGER NOT NULL, ended INTEGER NOT NULL, sum INTEGER NOT NULL);
    CREATE TABLE loss(source INTEGER NOT NULL, place TEXT NOT NULL, cause TEXT NOT NULL, count INTEGER NOT NULL,
        PRIMARY KEY(source, place, cause)) WITHOUT ROWID;
    CREATE TABLE epoch(first INTEGER NOT NULL, epoch INTEGER NOT NULL, boot TEXT NOT NULL);
    CREATE TABLE damage(position INTEGER NOT NULL, end INTEGER NOT NULL, what TEXT NOT NULL);
    CREATE TABLE deletion(why TEXT PRIMARY KEY, events INTEGER NOT NULL, until INTEGER NOT NULL, time INTEGER NOT NULL);
    CREATE TABLE extent(start INTEGER NOT NULL, end INTEGER NOT NULL);
    INSERT INTO extent VALUES(0, 0);";

/// The write-ahead log is moved into the database when it has so many pages of 4 KiB: our own choice.
pub(super) const CHECKPOINT_PAGES: i64 = 4096;

/// Sets up the connection that writes, and makes the tables where there are none; the other format that it has, where it has.
///
/// What is deleted is overwritten where `forgets` is set.
pub(super) fn prepare(connection: &Connection, most_bytes: u64, forgets: bool) -> rusqlite::Result<Result<(), i64>> {
    let set = |name: &str, value: &dyn rusqlite::ToSql| set(connection, name, value);
    let number = |sql: &str| number(connection, sql);
    connection.busy_timeout(Duration::from_millis(200))?;
    connection.set_prepared_statement_cache_capacity(64);
    set("journal_mode", &"WAL")?;
    set("cell_size_check", &1)?;
    set("secure_delete", &i64::from(forgets))?;
    set("wal_autocheckpoint", &CHECKPOINT_PAGES)?;
    let format = number("PRAGMA user_version")?;
    if number("SELECT count(*) FROM sqlite_schema")? == 0 {
        let make = format!("BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {FORMAT}; COMMIT;");
        connection.execute_batch(&make)?;
    } else if format != FORMAT {
        return Ok(Err(format));
    }
    set("max_page_count", &most_pages(connection, most_bytes)?)?;
    Ok(Ok(()))
}

/// Sets a pragma.
pub(super) fn set(connection: &Connection, name: &str, value: &dyn rusqlite::ToSql) -> rusqlite::Result<()> {
    match connection.pragma_update_and_check(None, name, value, |_| Ok(())) {
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(()),
        other => other,
    }
}

/// The first number of the first row.
pub(super) fn number(connection: &Connection, sql: &str) -> rusqlite::Result<i64> {
    connection.query_row(sql, [], |row| row.get(0))
}

/// How many pages so many bytes hold.
pub(super) fn pages_in(connection: &Connection, bytes: u64) -> rusqlite::Result<i64> {
    let page = number(connection, "PRAGMA page_size")?;
    Ok((bytes / page.max(512) as u64).min(u64::from(u32::MAX - 2)) as i64)
}

/// The most pages of a database of at most so many bytes, which its tables alone may pass.
pub(super) fn most_pages(connection: &Connection, most_bytes: u64) -> rusqlite::Result<i64> {
    Ok(pages_in(connection, most_bytes)?.max(32))
}
