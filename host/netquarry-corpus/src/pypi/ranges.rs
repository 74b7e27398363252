//! Reading a remote file in parts: of a wheel of 900 MB, the directory at its end and the members that count.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};

use reqwest::Url;

use super::http::{Client, Part, RangeStart};
use crate::failure::FetchFailure;

/// One request transfers so much. Python files of a wheel stand close together, so larger parts save requests and transfer
/// little that is not needed.
const BLOCK: u64 = 1 << 20;

/// So many parts are kept: the reader of a zip goes back a little, never far.
const KEPT: usize = 8;

/// A remote file that can be read and sought in.
pub(crate) struct RangeReader<'client> {
    client: &'client Client<'client>,
    url: Url,
    length: u64,
    position: u64,
    /// Parts by their start, the last one read at the end.
    parts: VecDeque<(u64, Vec<u8>)>,
}

impl<'client> RangeReader<'client> {
    /// `None` where the server sends only whole files.
    pub(crate) fn open(client: &'client Client<'client>, url: &Url) -> Result<Option<Self>, FetchFailure> {
        let Some(Part { start, bytes, length }) = client.range(url, RangeStart::Last(BLOCK))? else { return Ok(None) };
        if start + bytes.len() as u64 != length {
            return Ok(None);
        }
        let parts = VecDeque::from([(start, bytes)]);
        Ok(Some(Self { client, url: url.clone(), length, position: 0, parts }))
    }

    /// The bytes from the position up to the end of the part that holds it.
    fn part(&mut self) -> io::Result<&[u8]> {
        let position = self.position;
        let holds = |(start, bytes): &(u64, Vec<u8>)| (*start..*start + bytes.len() as u64).contains(&position);
        if let Some(index) = self.parts.iter().position(holds) {
            let part = self.parts.remove(index).expect("the index is below the length");
            self.parts.push_back(part);
        } else {
            let to = (position + BLOCK).min(self.length) - 1;
            let part = self.client.range(&self.url, RangeStart::At { from: position, to }).map_err(io::Error::other)?;
            let part =
                part.filter(|part| part.start == position && part.length == self.length && !part.bytes.is_empty());
            let Some(part) = part else { return Err(io::Error::other("the file has changed on the server")) };
            self.parts.push_back((part.start, part.bytes));
            if self.parts.len() > KEPT {
                self.parts.pop_front();
            }
        }
        let (start, bytes) = self.parts.back().expect("just added");
        Ok(&bytes[usize::try_from(position - start).expect("within a part")..])
    }
}

impl Read for RangeReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position >= self.length || buffer.is_empty() {
            return Ok(0);
        }
        let part = self.part()?;
        let count = part.len().min(buffer.len());
        buffer[..count].copy_from_slice(&part[..count]);
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for RangeReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.length.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.position)
    }
}
