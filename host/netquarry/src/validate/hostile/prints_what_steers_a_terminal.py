# failure: runtime_error at execute
# message: \u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31mgone\u{d}over\u{0}\u{202e}
# layer: host
import sys

print("\x1b[2J\x1b]0;owned\x07\x9b31m", end="")
sys.stderr.buffer.write(b"\xff\xfe\0\x1b[8m")
raise RuntimeError("\x1b[2J\x1b]0;owned\x07\x9b31mgone\rover\0\u202e")
