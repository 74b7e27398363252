import subprocess
import sys

from netquarry_sdk import telling
from support import SDK

CLOSED = """
import logging, random, sys, time, warnings
from netquarry_sdk import closed_world, log
messages = []
log.send_to(lambda level, message: messages.append(f"{level.name} {message}"))
real = sys.stdout
closed_world.close()
print("in", end=" ")
print("parts")
print("trouble", file=sys.stderr)
logging.getLogger("any").error("number %d", 7)
warnings.warn("old")
try:
    import wave
except ImportError as error:
    messages.append(str(error))
try:
    open("file")
except OSError as error:
    messages.append(str(error))
messages.append(f"{time.time()} {time.monotonic_ns()} {random.random()}")
real.write("\\n".join(messages))
"""


def test_what_would_end_a_call_is_a_message_or_an_exception():
    process = subprocess.run(
        [sys.executable, "-c", CLOSED],
        env={"PYTHONPATH": str(SDK / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout.splitlines() == [
        "INFO in parts",
        "WARNING trouble",
        "ERROR number 7",
        "WARNING UserWarning: old",
        "no module named `wave` in the component; import it at the top of a module, so that it comes along",
        "a plugin has no files; read `file` at the top of a module, while the component is built",
        "0.0 0 0.8444218515250481",
    ]


def test_an_exception_is_told_with_its_lines_and_what_led_to_it():
    telling.remember_sources([__file__])
    try:
        try:
            {}["inner"]
        except KeyError as error:
            raise ValueError("outer") from error
    except ValueError as error:
        lines = telling.told(error).splitlines()
    assert lines[1:4] == ['    {}["inner"]', "KeyError: 'inner'", "which led to"]
    assert lines[-2:] == ['    raise ValueError("outer") from error', "ValueError: outer"]
