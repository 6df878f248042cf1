//! Messages as bytes: a frame is a little-endian length (4 bytes) and so many bytes of messages, one after another.
//!
//! Pure functions over buffers, for blocking and async callers alike. A batch is one frame and one write.

use serde::{Serialize, de::DeserializeOwned};

use crate::error::Error;

/// The most bytes of one frame.
pub const FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;
const LENGTH_BYTES: usize = 4;

/// Appends one frame with all `messages` to `out`. Nothing is appended for no messages.
///
/// # Panics
/// If the messages together are longer than [`FRAME_BYTES_MAX`].
pub fn encode<'a, T: Serialize + 'a>(messages: impl IntoIterator<Item = &'a T>, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH_BYTES]);
    for message in messages {
        append(message, out);
    }
    let length = out.len() - start - LENGTH_BYTES;
    if length == 0 {
        out.truncate(start);
        return;
    }
    assert!(length <= FRAME_BYTES_MAX, "a frame of {length} bytes");
    out[start..start + LENGTH_BYTES].copy_from_slice(&(length as u32).to_le_bytes());
}

/// Takes the first frame off `buffer` if it is there in full: its messages, and how many bytes to drop.
pub fn decode<T: DeserializeOwned>(buffer: &[u8]) -> Result<Option<(Vec<T>, usize)>, Error> {
    let Some((length, rest)) = buffer.split_first_chunk::<LENGTH_BYTES>() else {
        return Ok(None);
    };
    let length = u32::from_le_bytes(*length) as usize;
    if length > FRAME_BYTES_MAX {
        return Err(Error::Protocol(format!("a frame of {length} bytes; the limit is {FRAME_BYTES_MAX}")));
    }
    let Some(mut body) = rest.get(..length) else {
        return Ok(None);
    };
    let mut messages = Vec::new();
    while !body.is_empty() {
        let (message, left) = postcard::take_from_bytes(body)
            .map_err(|error| Error::Protocol(format!("a message that cannot be read: {error}")))?;
        messages.push(message);
        body = left;
    }
    Ok(Some((messages, LENGTH_BYTES + length)))
}

fn append<T: Serialize>(message: &T, out: &mut Vec<u8>) {
    // Only a serializer that runs out of room fails, and a vector does not.
    *out = postcard::to_extend(message, std::mem::take(out)).expect("messages are plain data");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::AttemptKey;
    use crate::protocol::{Request, Start};

    const KEY: AttemptKey = AttemptKey { run: [1; 16], attempt: 2, epoch: 3 };

    #[test]
    fn frames_are_read_back_whatever_the_cut() {
        let batch =
            [Request::List, Request::Start(Box::new(Start::new(KEY, ["true"]))), Request::Ack { key: KEY }];
        let mut bytes = Vec::new();
        encode(&batch, &mut bytes);
        encode(&batch[..1], &mut bytes);
        let first = bytes.len() - 5;
        for cut in 0..first {
            assert!(decode::<Request>(&bytes[..cut]).unwrap().is_none(), "{cut}");
        }
        let (messages, taken) = decode::<Request>(&bytes).unwrap().unwrap();
        assert_eq!((messages.as_slice(), taken), (batch.as_slice(), first));
        let (messages, _) = decode::<Request>(&bytes[taken..]).unwrap().unwrap();
        assert_eq!(messages, batch[..1]);
    }

    #[test]
    fn no_messages_are_no_frame() {
        let mut bytes = Vec::new();
        encode::<Request>(&[], &mut bytes);
        assert!(bytes.is_empty());
    }

    #[test]
    fn foreign_bytes_are_an_error() {
        assert!(decode::<Request>(b"GET / HTTP/1.1\r\n\r\n").is_err());
        assert!(decode::<Request>(&[3, 0, 0, 0, 0xff, 0xff, 0xff]).is_err());
    }
}
