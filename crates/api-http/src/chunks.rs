//! Answers whose bodies are made chunk by chunk: whole when they are small, a stream when they are not. Memory stays flat either
//! way.

use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use http::StatusCode;

use crate::media::MediaType;
use crate::response::{Response, json_response};
use crate::stream::{BrokenOff, StreamSender, stream};

/// Up to this size an answer is whole: it has a length, and errors have a status.
pub const WHOLE_BYTES_MAX: usize = 1 << 20;
/// Chunks of a stream that wait for the client.
const CHUNKS_MAX: usize = 4;
/// About the size of a chunk of an answer: what makes [`Chunks`] goes on until it has so much.
pub const CHUNK_BYTES: usize = 256 << 10;

/// Pieces of a body, in order, until one cannot be made.
pub type Chunks<E> = Pin<Box<dyn Stream<Item = Result<Vec<u8>, E>> + Send>>;

/// Answers 200 with a body of this media type: whole if it is small, else as a stream, of which the client may take nothing for
/// `stall_max`. Cost: the memory of a mebibyte and a few chunks at most; a small answer of one chunk is not copied.
///
/// # Errors
///
/// Whatever goes wrong before the answer is larger than a mebibyte; later it breaks off ([`BrokenOff`]).
pub async fn chunked_response<E>(
    media_type: MediaType,
    stall_max: Duration,
    mut chunks: Chunks<E>,
) -> Result<Response, E>
where
    E: Into<BrokenOff> + Send + 'static,
{
    let mut whole = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        if whole.is_empty() {
            whole = chunk;
        } else {
            whole.extend_from_slice(&chunk);
        }
        if whole.len() > WHOLE_BYTES_MAX {
            let (sender, body) = stream(CHUNKS_MAX, stall_max);
            tokio::spawn(send(sender, whole, chunks));
            return Ok(json_response(StatusCode::OK, media_type, body));
        }
    }
    Ok(json_response(StatusCode::OK, media_type, whole))
}

/// Sends chunks until the last, or until the client has gone.
async fn send<E: Into<BrokenOff>>(sender: StreamSender, first: Vec<u8>, mut chunks: Chunks<E>) {
    let mut next: Option<Result<_, E>> = Some(Ok(first));
    while let Some(chunk) = next {
        match chunk {
            Ok(chunk) => {
                if sender.send(chunk).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                let BrokenOff(reason) = error.into();
                return sender.fail(reason);
            }
        }
        next = chunks.next().await;
    }
    // If the client left, nobody reads the end.
    let _ = sender.finish().await;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http_body_util::BodyExt as _;

    use super::*;
    use crate::Body;

    const STALL: Duration = Duration::from_secs(5);

    /// So many chunks of a quarter of a mebibyte, each of one letter; then, perhaps, an error. Counts those that are made.
    fn chunks(number: usize, error: Option<&str>, made: &Arc<AtomicUsize>) -> Chunks<BrokenOff> {
        let made = Arc::clone(made);
        let letters = (0..number).map(move |place| {
            made.fetch_add(1, Ordering::Relaxed);
            Ok(vec![letter(place); CHUNK_BYTES])
        });
        let error = error.map(|reason| Err(BrokenOff(reason.to_owned())));
        Box::pin(futures_util::stream::iter(letters.chain(error)))
    }

    fn letter(place: usize) -> u8 {
        b'a' + u8::try_from(place % 26).expect("a letter")
    }

    async fn answered(number: usize, error: Option<&str>) -> Result<Response, BrokenOff> {
        chunked_response("text/plain", STALL, chunks(number, error, &Arc::default())).await
    }

    #[tokio::test]
    async fn what_is_small_is_whole_and_what_is_not_is_streamed() {
        for (number, is_streamed) in [(0, false), (1, false), (4, false), (5, true), (40, true)] {
            let response = answered(number, None).await.unwrap();
            assert_eq!(response.headers()["content-type"], "text/plain");
            assert_eq!(matches!(response.body(), Body::Stream(_)), is_streamed, "{number}");
            let expected: Vec<u8> = (0..number).flat_map(|place| vec![letter(place); CHUNK_BYTES]).collect();
            let found = response.into_body().collect().await.unwrap().to_bytes();
            assert!(found == expected, "{number} chunks: {} bytes differ", found.len());
        }
    }

    #[tokio::test]
    async fn an_error_has_a_status_at_first_and_breaks_off_later() {
        assert_eq!(answered(4, Some("gone")).await.unwrap_err(), BrokenOff("gone".to_owned()));
        let mut body = answered(10, Some("gone")).await.unwrap().into_body();
        let mut bytes = 0;
        let broken = loop {
            match body.frame().await.expect("a body that broke off has no end") {
                Ok(frame) => bytes += frame.into_data().unwrap().len(),
                Err(broken) => break broken,
            }
        };
        assert_eq!((bytes, broken.0.as_str()), (10 * CHUNK_BYTES, "gone"));
    }

    #[tokio::test]
    async fn nothing_more_is_made_for_a_client_that_left() {
        let made = Arc::new(AtomicUsize::new(0));
        let response = chunked_response("text/plain", STALL, chunks(1_000, None, &made)).await.unwrap();
        let mut body = response.into_body();
        body.frame().await.unwrap().unwrap();
        drop(body);
        // What makes the chunks holds one of the two references until it ends.
        while Arc::strong_count(&made) > 1 {
            tokio::task::yield_now().await;
        }
        assert!(made.load(Ordering::Relaxed) < 20, "{made:?}");
    }
}
