//! Following one child from its start to its end: its report, what it prints, the clock, and how it ended.

use std::io::{self, ErrorKind, IoSliceMut, PipeReader, PipeWriter, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Signal, pidfd_send_signal};

use super::Limits;
use super::protocol::{self, Ending, Event, Malformed, Reported, Told};

/// How long the worker may take to tell the end of a child that it was told to kill.
pub(super) const GRACE: Duration = Duration::from_secs(10);
/// How much of what a child prints is kept, from its end.
const KEPT_OUTPUT: usize = 8 << 10;
/// How often a pipe is read once the child has ended. Something that it left behind could write for ever.
const LAST_READS: usize = 64;

/// A child from its start to its end.
#[derive(Debug)]
pub(super) struct Run {
    /// What it reported, in order.
    pub(super) events: Vec<Event>,
    /// Something on the report's descriptor was no message with the job's token; what came after is not looked at.
    pub(super) forged: bool,
    pub(super) timed_out: bool,
    pub(super) ending: Ending,
    /// The end of what it printed.
    pub(super) output: String,
}

impl Run {
    /// Whether it came to less than it could have with more memory.
    pub(super) fn is_short(&self) -> bool {
        let is_told = || self.events.iter().any(|event| matches!(event, Event::Short));
        !self.forged && (is_told() || self.is_out_of_memory())
    }

    /// Whether it was ended as a process is that gets no more memory.
    pub(super) fn is_out_of_memory(&self) -> bool {
        let signal = -self.ending.status;
        !self.timed_out && (signal == libc::SIGKILL || signal > 0 && self.output.contains("bad_alloc"))
    }
}

/// Our ends of what leads to one child.
pub(super) struct Ends<'a> {
    /// Where the worker tells about it.
    pub(super) socket: UnixStream,
    pub(super) report: PipeReader,
    /// What it prints.
    pub(super) output: PipeReader,
    /// Where it is told a number each time that it is ready for one, and the numbers.
    pub(super) numbers: Option<(PipeWriter, &'a [u32])>,
}

/// Follows the child until the worker has told its end; kills it when its time is over or when it writes to the report
/// what no child of ours would.
///
/// # Errors
/// The worker is gone, or does not answer.
pub(super) fn to_the_end(ends: Ends<'_>, token: &str, limits: &Limits) -> io::Result<Run> {
    let Ends { socket, report, output, numbers } = ends;
    let mut numbers = numbers.map(|(pipe, numbers)| Numbers { pipe, numbers: numbers.iter(), heard: 0 });
    let mut report = Stream::new(report);
    let mut output = Stream::new(output);
    let mut transcript = Transcript { token, most: limits.report_bytes, events: Vec::new(), forged: false, bytes: 0 };
    let mut told = Vec::new();
    let mut deadline = Instant::now() + limits.wall;
    let (mut timed_out, mut killed) = (false, false);
    let mut child = None;
    let ending = loop {
        let ready = wait(&socket, &report, &output, deadline)?;
        if ready.report {
            report.read();
            transcript.take(&mut report.bytes);
            if numbers.as_mut().is_some_and(|numbers| !numbers.answer(&transcript.events)) {
                numbers = None;
            }
        }
        if ready.output {
            output.read();
            output.keep_end();
        }
        if ready.socket {
            if !receive(&socket, &mut told, &mut child)? {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            if let Some(ending) = ending(&mut told)? {
                break ending;
            }
        }
        let late = Instant::now() >= deadline;
        if killed && late {
            return Err(ErrorKind::TimedOut.into());
        }
        if !killed && (late || transcript.forged) {
            timed_out = late;
            killed = true;
            deadline = Instant::now() + GRACE;
            // It fails where the child has ended already.
            let _ = child.as_ref().map(|child| pidfd_send_signal(child, Signal::KILL));
            // The worker takes the end of this stream as the order to kill whatever the child has started.
            socket.shutdown(Shutdown::Write)?;
        }
    };
    for _ in 0..LAST_READS {
        let ready = wait(&socket, &report, &output, Instant::now())?;
        if !ready.report && !ready.output {
            break;
        }
        if ready.report {
            report.read();
            transcript.take(&mut report.bytes);
        }
        if ready.output {
            output.read();
            output.keep_end();
        }
    }
    let output = String::from_utf8_lossy(&output.bytes).into_owned();
    Ok(Run { events: transcript.events, forged: transcript.forged, timed_out, ending, output })
}

/// Takes what the worker has told off `told`, up to the end of the child.
fn ending(told: &mut Vec<u8>) -> io::Result<Option<Ending>> {
    loop {
        match protocol::decode(told).map_err(|Malformed| ErrorKind::InvalidData)? {
            Some(Told::Started) => {}
            Some(Told::Ended(ending)) => return Ok(Some(ending)),
            None => return Ok(None),
        }
    }
}

/// Reads once from what is known to be readable, and keeps the descriptor that comes with it; false at the end of the
/// stream.
fn receive(socket: &UnixStream, into: &mut Vec<u8>, child: &mut Option<OwnedFd>) -> io::Result<bool> {
    let mut chunk = [0; 1 << 10];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [IoSliceMut::new(&mut chunk)];
    let count = match recvmsg(socket, &mut slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
        Ok(message) => message.bytes,
        Err(rustix::io::Errno::INTR) => return Ok(true),
        Err(error) => return Err(error.into()),
    };
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            *child = descriptors.last();
        }
    }
    into.extend_from_slice(&chunk[..count]);
    Ok(count > 0)
}

/// Reads once from what is known to be readable; false at the end of the stream.
pub(super) fn read_some(from: &mut impl Read, into: &mut Vec<u8>) -> io::Result<bool> {
    let mut chunk = [0; 1 << 16];
    loop {
        match from.read(&mut chunk) {
            Ok(count) => {
                into.extend_from_slice(&chunk[..count]);
                return Ok(count > 0);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// One of the pipes that a child writes to.
struct Stream {
    pipe: PipeReader,
    open: bool,
    bytes: Vec<u8>,
}

impl Stream {
    fn new(pipe: PipeReader) -> Self {
        Self { pipe, open: true, bytes: Vec::new() }
    }

    fn read(&mut self) {
        // A pipe that cannot be read has nothing more to say.
        self.open = read_some(&mut self.pipe, &mut self.bytes).unwrap_or(false);
    }

    fn keep_end(&mut self) {
        self.bytes.drain(..self.bytes.len().saturating_sub(KEPT_OUTPUT));
    }
}

/// The numbers of a challenge that are not told yet.
struct Numbers<'a> {
    pipe: PipeWriter,
    numbers: std::slice::Iter<'a, u32>,
    /// So many events have been answered.
    heard: usize,
}

impl Numbers<'_> {
    /// Tells a number for each time that the child has said since that it is ready; false where nobody takes one, or none
    /// is left. A pipe has room for more than there are.
    fn answer(&mut self, events: &[Event]) -> bool {
        let new = &events[self.heard..];
        self.heard = events.len();
        let mut asked = new.iter().filter(|event| matches!(event, Event::Ready));
        asked.all(|_| self.numbers.next().is_some_and(|number| self.pipe.write_all(&number.to_be_bytes()).is_ok()))
    }
}

/// The messages of a report that are to be believed to come from our own code.
struct Transcript<'a> {
    token: &'a str,
    most: usize,
    events: Vec<Event>,
    forged: bool,
    bytes: usize,
}

impl Transcript<'_> {
    /// Takes whole messages off `bytes`.
    fn take(&mut self, bytes: &mut Vec<u8>) {
        while !self.forged {
            let before = bytes.len();
            match protocol::decode::<Reported>(bytes) {
                Ok(Some(message)) if message.token == self.token => self.events.push(message.event),
                Ok(None) => {
                    self.forged = self.bytes + before > self.most;
                    return;
                }
                Ok(Some(_)) | Err(Malformed) => self.forged = true,
            }
            self.bytes += before - bytes.len();
        }
        bytes.clear();
    }
}

struct Ready {
    socket: bool,
    report: bool,
    output: bool,
}

/// Waits until something can be read, at the longest until the deadline.
fn wait(socket: &UnixStream, report: &Stream, output: &Stream, deadline: Instant) -> io::Result<Ready> {
    let mut polled = vec![PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
    for stream in [report, output] {
        if stream.open {
            polled.push(PollFd::new(stream.pipe.as_fd(), PollFlags::POLLIN));
        }
    }
    let left = deadline.saturating_duration_since(Instant::now());
    // Rounded up, so that the deadline has passed when nothing came.
    let milliseconds = left.as_micros().div_ceil(1000);
    match poll(&mut polled, PollTimeout::try_from(milliseconds).unwrap_or(PollTimeout::MAX)) {
        Ok(_) => {}
        Err(Errno::EINTR) => {
            return Ok(Ready { socket: false, report: false, output: false });
        }
        Err(error) => return Err(error.into()),
    }
    let mut ready = polled.iter().map(|descriptor| descriptor.any().unwrap_or(true));
    let mut next = || ready.next().expect("one answer for each descriptor");
    Ok(Ready { socket: next(), report: report.open && next(), output: output.open && next() })
}
