//! Columns of numbers through `pco`: one chunk of one page, without its file header, behind a length.

use pco::data_types::Number;
use pco::metadata::DeltaEncoding;
use pco::wrapped::{FileCompressor, FileDecompressor};
use pco::{ChunkConfig, PagingSpec};

use super::Malformed;
use store::wire::{Reader, put_varint};

/// The mode with a dictionary is never written, and would let a few bytes ask for much memory.
const MODE_DICTIONARY: u8 = 4;

/// The low bits of a chunk's first byte say its mode.
const MODE_MASK: u8 = 0x0f;

/// The writer looks back 2^15 numbers at most; a reader sets memory aside for the window.
const WINDOW_BITS_MAX: u32 = 15;

/// Compresses numbers at a level from 0 to 12; nothing if `pco` refuses.
pub(super) fn compress<T: Number>(values: &[T], level: usize) -> Option<Vec<u8>> {
    let config = ChunkConfig::default()
        .with_compression_level(level)
        .with_paging_spec(PagingSpec::Exact(vec![values.len()]));
    let compressor = FileCompressor::default();
    let mut bytes = compressor.write_header(Vec::new()).ok()?;
    let mut chunk = compressor.chunk_compressor(values, &config).ok()?;
    bytes = chunk.write_meta(bytes).ok()?;
    bytes = chunk.write_page(0, bytes).ok()?;
    bytes.shrink_to_fit();
    Some(bytes)
}

/// Appends what [`compress`] gave, behind its length.
pub(super) fn put(bytes: &[u8], out: &mut Vec<u8>) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads what [`put`] wrote.
pub(super) fn read<T: Number>(cursor: &mut Reader<'_>, out: &mut [T]) -> Result<(), Malformed> {
    let len = cursor.length(cursor.rest().len())?;
    decompress(cursor.take(len)?, out).ok_or(Malformed)
}

fn decompress<T: Number>(bytes: &[u8], out: &mut [T]) -> Option<()> {
    let (file, rest) = FileDecompressor::new(bytes).ok()?;
    if rest.first()? & MODE_MASK >= MODE_DICTIONARY {
        return None;
    }
    let (mut chunk, rest) = file.chunk_decompressor::<T, _>(rest).ok()?;
    if let DeltaEncoding::Lookback { config, .. } = &chunk.meta().delta_encoding
        && config.window_n_log > WINDOW_BITS_MAX
    {
        return None;
    }
    let mut page = chunk.page_decompressor(rest, out.len()).ok()?;
    let progress = page.read(out).ok()?;
    (progress.n_processed == out.len() && page.into_src().is_empty()).then_some(())
}

#[cfg(test)]
mod tests {
    use pco::{DeltaSpec, ModeSpec};

    use super::*;

    fn squeezed(values: &[i64], config: &ChunkConfig) -> (u8, Vec<u8>) {
        let compressor = FileCompressor::default();
        let head = compressor.write_header(Vec::new()).unwrap();
        let mut chunk = compressor.chunk_compressor(values, config).unwrap();
        let bytes = chunk.write_meta(head.clone()).unwrap();
        (bytes[head.len()] & MODE_MASK, chunk.write_page(0, bytes).unwrap())
    }

    fn check(values: &[i64], config: &ChunkConfig, mode: u8, readable: bool) {
        let (written, bytes) = squeezed(values, config);
        let mut back = vec![0; values.len()];
        assert_eq!((written, decompress(&bytes, &mut back).is_some()), (mode, readable));
        assert!(!readable || back == values);
        assert!(decompress(&bytes, &mut vec![0; values.len() + 1]).is_none(), "too few numbers");
        assert!(decompress(&[&bytes[..], &[0]].concat(), &mut back).is_none(), "bytes left over");
    }

    #[test]
    fn dictionaries_are_refused() {
        let values: Vec<i64> = (0..2_000_i64).map(|at| (at * at % 7) * 77_777_777_777).collect();
        check(&values, &ChunkConfig::default(), 0, true);
        check(&values, &ChunkConfig::default().with_mode_spec(ModeSpec::TryDict), MODE_DICTIONARY, false);
        let looking_back = ChunkConfig::default().with_delta_spec(DeltaSpec::TryLookback);
        check(&values, &looking_back, 0, true);
    }
}
