"""Messages: JSON behind its length in bytes (four bytes, big-endian)."""

import json
import socket
import struct

LENGTH = struct.Struct(">I")


def encode(message):
    # Half of a surrogate pair, as Python has it for a byte of a file's name that is no text, is no character elsewhere.
    body = json.dumps(message, ensure_ascii=False, allow_nan=False).encode(errors="replace")
    return LENGTH.pack(len(body)) + body


def receive(connection, descriptors=0):
    """The next message and the descriptors that came with it; None at the end of the stream."""
    header, passed, _, _ = socket.recv_fds(connection, LENGTH.size, descriptors)
    if not header:
        return None, passed
    header += _exactly(connection, LENGTH.size - len(header))
    (length,) = LENGTH.unpack(header)
    return json.loads(_exactly(connection, length)), passed


def _exactly(connection, length):
    parts = []
    while length:
        part = connection.recv(length)
        if not part:
            raise EOFError("the host went away in the middle of a message")
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
