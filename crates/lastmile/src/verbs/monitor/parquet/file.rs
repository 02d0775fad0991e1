//! Writes Apache Parquet files of flat columns: one data page a column in each row group, plain values, compressed with zstd.
//!
//! Our own: the crate `parquet` brings a calendar, which deny.toml bans, and twenty crates more, of which flat columns need none. pyarrow reads
//! the files back in a test. Numbers of the format are those of its `parquet.thrift`.

use super::thrift::Compact;
use lastmile_codec::content::{CodecSpec, encode};
use std::io::{self, Write};

/// What a column's values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnType {
    /// Nanoseconds of Unix time, UTC.
    Time,
    /// Integers from 0 on.
    Unsigned,
    Integer,
    Double,
    Boolean,
    Text,
}

/// A column: its name, its type, and whether rows may have no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: ColumnType,
    pub(super) is_optional: bool,
}

/// The values of a column in a row group.
#[derive(Debug, Clone, Default)]
pub(super) struct Values {
    present: Bits,
    booleans: Bits,
    /// All others, in the plain encoding.
    plain: Vec<u8>,
    count: usize,
}

/// Bits, the least significant of a byte first.
#[derive(Debug, Clone, Default)]
struct Bits {
    bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        if self.count.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(bit) << (self.count % 8);
        }
        self.count += 1;
    }
}

impl Values {
    pub(super) fn push_none(&mut self) {
        self.present.push(false);
    }

    pub(super) fn push_integer(&mut self, value: i64) {
        self.push(&value.to_le_bytes());
    }

    pub(super) fn push_unsigned(&mut self, value: u64) {
        self.push(&value.to_le_bytes());
    }

    pub(super) fn push_double(&mut self, value: f64) {
        self.push(&value.to_le_bytes());
    }

    pub(super) fn push_boolean(&mut self, value: bool) {
        self.booleans.push(value);
        self.push(&[]);
    }

    pub(super) fn push_text(&mut self, value: &str) {
        // No value is as long as 4 GiB: an answer's line would be.
        self.plain
            .extend(u32::try_from(value.len()).unwrap_or(u32::MAX).to_le_bytes());
        self.push(value.as_bytes());
    }

    fn push(&mut self, plain: &[u8]) {
        self.present.push(true);
        self.plain.extend(plain);
        self.count += 1;
    }

    /// The bytes that they take here.
    pub(super) fn byte_count(&self) -> usize {
        self.plain.len() + self.present.bytes.len() + self.booleans.bytes.len()
    }

    /// The content of a data page.
    fn page(&self, column: &Column) -> Vec<u8> {
        let mut page = Vec::with_capacity(self.byte_count() + 8);
        if column.is_optional {
            // Levels of one bit, as one run of packed groups of eight.
            let mut levels = Vec::new();
            super::thrift::write_varint(&mut levels, (self.present.bytes.len() as u64) << 1 | 1);
            levels.extend(&self.present.bytes);
            page.extend(u32::try_from(levels.len()).unwrap_or(u32::MAX).to_le_bytes());
            page.extend(levels);
        }
        page.extend(&self.plain);
        page.extend(&self.booleans.bytes);
        page
    }
}

/// A file that is being written.
pub(super) struct ParquetWriter<W> {
    out: W,
    columns: Vec<Column>,
    codec: CodecSpec,
    written: u64,
    rows: u64,
    groups: Vec<Group>,
}

struct Group {
    rows: u64,
    chunks: Vec<Chunk>,
}

/// Where the values of a column are in a group.
struct Chunk {
    offset: u64,
    rows: u64,
    raw: u64,
    compressed: u64,
}

const MAGIC: &[u8] = b"PAR1";

impl<W: Write> ParquetWriter<W> {
    pub(super) fn new(mut out: W, columns: Vec<Column>) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(Self {
            out,
            columns,
            codec: "zstd:3".parse().expect("it is a codec"),
            written: MAGIC.len() as u64,
            rows: 0,
            groups: Vec::new(),
        })
    }

    /// Writes a row group: the values of each column, of as many rows.
    pub(super) fn write_group(&mut self, values: &[Values]) -> io::Result<()> {
        let rows = values.first().map_or(0, |values| values.present.count as u64);
        if rows == 0 {
            return Ok(());
        }
        let mut chunks = Vec::with_capacity(values.len());
        for (column, values) in self.columns.iter().zip(values) {
            assert_eq!(values.present.count as u64, rows, "every column has each row");
            let page = values.page(column);
            let compressed = encode(self.codec, &page);
            let header = page_header(page.len(), compressed.len(), values.present.count);
            self.out.write_all(&header)?;
            self.out.write_all(&compressed)?;
            let chunk = Chunk {
                offset: self.written,
                rows,
                raw: (header.len() + page.len()) as u64,
                compressed: (header.len() + compressed.len()) as u64,
            };
            self.written += chunk.compressed;
            chunks.push(chunk);
        }
        self.rows += rows;
        self.groups.push(Group { rows, chunks });
        Ok(())
    }

    /// Ends the file.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let footer = self.footer();
        self.out.write_all(&footer)?;
        self.out
            .write_all(&u32::try_from(footer.len()).unwrap_or(u32::MAX).to_le_bytes())?;
        self.out.write_all(MAGIC)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn footer(&self) -> Vec<u8> {
        let mut file = Compact::default();
        file.i32(1, 1);
        file.list_of_structs(2, self.columns.len() + 1);
        file.begin_element();
        file.text(4, "events");
        file.i32(5, self.columns.len() as i32);
        file.end();
        for column in &self.columns {
            write_column(&mut file, column);
        }
        file.i64(3, self.rows);
        file.list_of_structs(4, self.groups.len());
        for group in &self.groups {
            file.begin_element();
            file.list_of_structs(1, group.chunks.len());
            for (column, chunk) in self.columns.iter().zip(&group.chunks) {
                write_chunk(&mut file, column, chunk);
            }
            file.i64(2, group.chunks.iter().map(|chunk| chunk.raw).sum());
            file.i64(3, group.rows);
            file.end();
        }
        file.text(6, concat!("lastmile ", env!("CARGO_PKG_VERSION")));
        file.finish()
    }
}

fn page_header(raw: usize, compressed: usize, rows: usize) -> Vec<u8> {
    const DATA_PAGE: i32 = 0;
    let mut header = Compact::default();
    header.i32(1, DATA_PAGE);
    header.i32(2, raw as i32);
    header.i32(3, compressed as i32);
    header.begin(5);
    header.i32(1, rows as i32);
    header.i32(2, PLAIN);
    header.i32(3, RLE);
    header.i32(4, RLE);
    header.end();
    header.finish()
}

const PLAIN: i32 = 0;
const RLE: i32 = 3;

/// A column's element of the schema.
fn write_column(file: &mut Compact, column: &Column) {
    const TEXT: i32 = 0;
    const UNSIGNED: i32 = 14;
    file.begin_element();
    file.i32(1, column.kind.physical());
    file.i32(3, i32::from(column.is_optional));
    file.text(4, &column.name);
    match column.kind {
        ColumnType::Text => file.i32(6, TEXT),
        ColumnType::Unsigned => file.i32(6, UNSIGNED),
        ColumnType::Time => {
            // A logical type: a timestamp (8) in UTC (1) whose unit (2) is nanoseconds (3).
            file.begin(10);
            file.begin(8);
            file.boolean(1, true);
            file.begin(2);
            file.begin(3);
            for _ in 0..4 {
                file.end();
            }
        }
        ColumnType::Integer | ColumnType::Double | ColumnType::Boolean => {}
    }
    file.end();
}

fn write_chunk(file: &mut Compact, column: &Column, chunk: &Chunk) {
    const ZSTD: i32 = 6;
    file.begin_element();
    file.i64(2, chunk.offset);
    file.begin(3);
    file.i32(1, column.kind.physical());
    file.list_of_i32(2, &[PLAIN, RLE]);
    file.list_of_texts(3, &[&column.name]);
    file.i32(4, ZSTD);
    file.i64(5, chunk.rows);
    file.i64(6, chunk.raw);
    file.i64(7, chunk.compressed);
    file.i64(9, chunk.offset);
    file.end();
    file.end();
}

impl ColumnType {
    /// The number of its physical type.
    const fn physical(self) -> i32 {
        match self {
            Self::Boolean => 0,
            Self::Time | Self::Unsigned | Self::Integer => 2,
            Self::Double => 5,
            Self::Text => 6,
        }
    }
}
