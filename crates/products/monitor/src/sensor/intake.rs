//! One application's connection: chunks or lines, as its first byte says.

use super::lines::{self, Lines};
use super::own_source::OwnSource;
use super::spool::Spool;
use crate::runtime::Runtime;
use lastmile_events::uplink::Reply;
use lastmile_events::{Chunk, chunk, line};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Bytes are read in pieces of this size.
const PIECE: usize = 64 << 10;

pub(super) async fn serve<R, S>(runtime: &R, mut stream: S, spool: &Spool, lines: &OwnSource) -> io::Result<()>
where
    R: Runtime,
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut bytes = Vec::with_capacity(PIECE);
    if stream.read_buf(&mut bytes).await? == 0 {
        return Ok(());
    }
    if bytes[0] == chunk::MAGIC[0] {
        serve_chunks(runtime, stream, bytes, spool).await
    } else {
        serve_lines(stream, bytes, lines).await
    }
}

/// Answers each chunk when it is kept. What is no chunk ends the connection, after the answer that says so.
async fn serve_chunks<R, S>(runtime: &R, mut stream: S, mut bytes: Vec<u8>, spool: &Spool) -> io::Result<()>
where
    R: Runtime,
    S: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        let Ok(length) = Chunk::length(&bytes) else {
            return stream.write_all(&Reply::Refused.to_bytes()).await;
        };
        let Some(length) = length.filter(|length| *length <= bytes.len()) else {
            if stream.read_buf(&mut bytes).await? == 0 {
                return Ok(());
            }
            continue;
        };
        let Ok((chunk, _)) = Chunk::read(&bytes[..length]) else {
            return stream.write_all(&Reply::Refused.to_bytes()).await;
        };
        bytes.drain(..length);
        runtime.compute_for(&chunk).await;
        let replies = spool.append(vec![chunk]).await;
        stream.write_all(&replies[0].to_bytes()).await?;
    }
}

/// Takes lines until the application ends its half, and says then what became of them.
async fn serve_lines<S>(mut stream: S, mut bytes: Vec<u8>, source: &OwnSource) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut account = Lines::default();
    loop {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
        if let Some(whole) = whole {
            let refusals = lines::append(source, &bytes[..whole], &mut account).await;
            bytes.drain(..whole);
            stream.write_all(refusals.as_bytes()).await?;
        }
        if bytes.len() > line::LINE_LENGTH_MAX {
            let refused = format!(
                "line {}: it is longer than {} bytes\n",
                account.read + 1,
                line::LINE_LENGTH_MAX
            );
            return stream.write_all(refused.as_bytes()).await;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            break;
        }
    }
    if !bytes.is_empty() {
        let refusals = lines::append(source, &bytes, &mut account).await;
        stream.write_all(refusals.as_bytes()).await?;
    }
    let Lines {
        kept, refused, dropped, ..
    } = account;
    let result = format!("kept {kept} refused {refused} dropped {dropped}\n");
    stream.write_all(result.as_bytes()).await?;
    stream.shutdown().await
}
