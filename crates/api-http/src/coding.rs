//! Content codings in pieces: bodies packed and unpacked while they pass, in bounded memory.

use std::io::{Error, Result, Write as _};

use bytes::Bytes;
use flate2::write::{GzEncoder, MultiGzDecoder};
use zstd::stream::raw::{DParameter, InBuffer, Operation as _, OutBuffer};

use crate::media::Coding;

/// The largest window a zstd body may ask memory for: 8 MiB, what every decoder must support.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// From this size on unpacked bytes are handed on.
const PIECE_BYTES: usize = 256 * 1024;

/// Packs.
pub(crate) enum Encoder {
    Gzip(GzEncoder<Vec<u8>>),
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
}

impl Encoder {
    /// An encoder at the fastest level.
    pub(crate) fn new(coding: Coding) -> Result<Self> {
        match coding {
            Coding::Gzip => Ok(Self::Gzip(GzEncoder::new(Vec::new(), flate2::Compression::fast()))),
            Coding::Zstd => Ok(Self::Zstd(zstd::stream::write::Encoder::new(Vec::new(), 1)?)),
        }
    }

    /// Packs a chunk; what comes out may belong to earlier ones, and be empty.
    pub(crate) fn encode(&mut self, chunk: &[u8]) -> Result<Bytes> {
        let packed = match self {
            Self::Gzip(encoder) => {
                encoder.write_all(chunk)?;
                encoder.get_mut()
            }
            Self::Zstd(encoder) => {
                encoder.write_all(chunk)?;
                encoder.get_mut()
            }
        };
        Ok(std::mem::take(packed).into())
    }

    /// What is left.
    pub(crate) fn finish(self) -> Result<Bytes> {
        match self {
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zstd(encoder) => encoder.finish(),
        }
        .map(Bytes::from)
    }
}

/// Unpacks.
pub(crate) enum Decoder {
    Gzip(Box<Gunzip>),
    Zstd(Unzstd),
}

/// Members of gzip, one behind the other.
pub(crate) struct Gunzip {
    /// `None` once the body has ended.
    decoder: Option<MultiGzDecoder<Vec<u8>>>,
}

/// Frames of zstd, one behind the other.
pub(crate) struct Unzstd {
    decoder: zstd::stream::raw::Decoder<'static>,
    /// Between two frames.
    at_end: bool,
    buffer: Vec<u8>,
}

impl Decoder {
    pub(crate) fn new(coding: Coding) -> Result<Self> {
        match coding {
            Coding::Gzip => {
                Ok(Self::Gzip(Box::new(Gunzip { decoder: Some(MultiGzDecoder::new(Vec::new())) })))
            }
            Coding::Zstd => {
                let mut decoder = zstd::stream::raw::Decoder::new()?;
                decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG_MAX))?;
                let buffer = vec![0; zstd::zstd_safe::DCtx::out_size()];
                Ok(Self::Zstd(Unzstd { decoder, at_end: true, buffer }))
            }
        }
    }

    /// Unpacks from the beginning of `packed`, which it shortens, until there are about 256 KiB or nothing
    /// of `packed` is left.
    pub(crate) fn decode(&mut self, packed: &mut Bytes) -> Result<Vec<u8>> {
        match self {
            Self::Gzip(gunzip) => gunzip.decode(packed),
            Self::Zstd(unzstd) => unzstd.decode(packed),
        }
    }

    /// What is left at the end of the body.
    pub(crate) fn finish(&mut self) -> Result<Vec<u8>> {
        match self {
            Self::Gzip(gunzip) => {
                gunzip.decoder.take().map_or_else(|| Ok(Vec::new()), MultiGzDecoder::finish)
            }
            Self::Zstd(unzstd) if unzstd.at_end => Ok(Vec::new()),
            Self::Zstd(_) => Err(cut_off()),
        }
    }
}

impl Gunzip {
    fn decode(&mut self, packed: &mut Bytes) -> Result<Vec<u8>> {
        let Some(decoder) = &mut self.decoder else { return Err(cut_off()) };
        // A call takes some input and gives at most the 32 KiB of its buffer.
        while !packed.is_empty() && decoder.get_ref().len() < PIECE_BYTES {
            let taken = decoder.write(packed)?;
            if taken == 0 {
                return Err(Error::other("bytes follow its end"));
            }
            drop(packed.split_to(taken));
        }
        Ok(std::mem::take(decoder.get_mut()))
    }
}

impl Unzstd {
    fn decode(&mut self, packed: &mut Bytes) -> Result<Vec<u8>> {
        let mut plain = Vec::new();
        loop {
            let mut input = InBuffer::around(packed.as_ref());
            let mut output = OutBuffer::around(self.buffer.as_mut_slice());
            let hint = self.decoder.run(&mut input, &mut output)?;
            let filled = output.pos() == output.capacity();
            plain.extend_from_slice(output.as_slice());
            let taken = input.pos();
            drop(packed.split_to(taken));
            self.at_end = hint == 0;
            // A full buffer may mean that there is more of what was taken already.
            let more = filled && !self.at_end || !packed.is_empty();
            if !more || plain.len() >= PIECE_BYTES && !packed.is_empty() {
                return Ok(plain);
            }
        }
    }
}

fn cut_off() -> Error {
    Error::new(std::io::ErrorKind::UnexpectedEof, "it was cut off")
}
