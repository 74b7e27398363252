"""The warm process: imports torch once, forks a child per bundle, and tells the host how each child ended.

It runs no foreign code itself. For what needs upstream's own modules it is asked for branches: children that import a
module of upstream and then serve as it does, so that whatever needs the module is forked from a process that has it
already. A branch of `pack.models` is forked from the branch of `pack`; nothing is imported that importing the module
alone would not import.

A process that forks is single-threaded, because a fork copies only the calling thread and a lock held by another would
stay locked in the child for ever; and its collector is frozen, because a collection writes to every object and so
copies memory in every child.
"""

import functools
import gc
import importlib
import os
import resource
import select
import signal
import socket
import sys
import time

from netquarry_worker import (
    barrier,
    child,
    confinement,
    export,
    namespaces,
    pages,
    protocol,
    randomness,
    report,
    signs,
)

# Of one request.
MOST_DESCRIPTORS = 6
# From this many children on it pays to make forks cheap.
MANY_CHILDREN = 32


class Running:
    """A child, with the descriptor that tells its end and the socket on which the host asks about it."""

    def __init__(self, pid, job_socket, fork_seconds):
        self.pid = pid
        self.handle = os.pidfd_open(pid)
        self.job_socket = job_socket
        # What the fork cost this process; it belongs to the bundle's account.
        self.fork_seconds = fork_seconds

    def hand_over(self):
        """Gives the host the descriptor by which it can end the child, whatever becomes of this process."""
        try:
            socket.send_fds(self.job_socket, [protocol.encode({"child": "started"})], [self.handle])
        except OSError:
            pass  # The host has given up on this one.

    def kill(self):
        """Ends the child and whatever it started. It is not reaped yet, so its number cannot mean another process."""
        for send in (os.killpg, os.kill):
            try:
                send(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # Its group is empty, or it has not made one yet.

    def reap(self):
        """How the child ended; closes everything."""
        self.kill()
        _, status, usage = os.wait4(self.pid, 0)
        os.close(self.handle)
        ending = {
            "child": "ended",
            "status": os.waitstatus_to_exitcode(status),
            "cpu_seconds": self.fork_seconds + usage.ru_utime + usage.ru_stime,
            "peak_bytes": usage.ru_maxrss * 1024,
        }
        try:
            self.job_socket.sendall(protocol.encode(ending))
        except OSError:
            pass  # The host has given up on this one.
        self.job_socket.close()


def main():
    # Standard input is the control socket; children get none.
    control = socket.socket(fileno=os.dup(0))
    empty = os.open(os.devnull, os.O_RDWR)
    os.dup2(empty, 0)
    os.close(empty)
    settings, _ = protocol.receive(control)
    # Only a process of one thread can, and the trial is a fork, which is cheap as long as nothing is imported.
    settings["namespaces"] = settings["namespaces"] and namespaces.leave_those_of_host()
    settings["private_scratch"] = settings["private_scratch"] and settings["namespaces"]
    for module in settings["warm"]:
        importlib.import_module(module)
    if "torch.export" in settings["warm"]:
        export.warm_up()
    sys.meta_path.insert(0, randomness.SeedOnImport())
    confinement.protect_worker()
    gc.disable()
    serve(control, settings, signs.remember())


def branch(request, descriptors, settings, parent):
    """The life of a branch: it reaches upstream's folders or imports a module, and serves."""
    confinement.detach(parent)
    control, *ruleset = confinement.keep_only(*descriptors)
    control = socket.socket(fileno=control)
    # A process that is restricted mounts nothing, nor do those that are forked from it.
    required = [layer for layer in settings["required"] if layer != "private-scratch"]
    settings = settings | {"private_scratch": False, "required": required}
    # Each on its own, so that none can end the one that it is forked from.
    given_up = confinement.give_up_capabilities() and confinement.give_up_privileges()
    if not given_up or not all(map(confinement.restrict, ruleset)):
        return child.HARNESS_FAILED
    try:
        if request["upstream"]:
            reach_upstream(request["upstream"], settings["required"])
        if request["module"]:
            import_upstream(request["module"], request["scratch"], settings["limits"])
    except BaseException as error:  # Whatever it is, it is upstream's.
        failure = report.describe(error)
    else:
        failure = None
    # No bundle climbs here.
    serve(control, settings, (), is_branch=True, failure=failure)


def reach_upstream(upstream, required):
    """Puts upstream's folders first on the path, and adds a filter before anything is imported from them."""
    sys.path[:0] = upstream["paths"]
    sys.path.extend(upstream["layers"])
    if not confinement.confine_importer(upstream["filters"]) and "system-call-filter" in required:
        os._exit(child.HARNESS_FAILED)


def import_upstream(module, scratch, limits):
    confinement.enter(scratch)
    confinement.limit_resources(limits, for_good=False)
    randomness.seed()
    try:
        importlib.import_module(module)
    finally:
        confinement.lift_limits()


def serve(control, settings, known, is_branch=False, failure=None):
    """Says that it is ready, or what it could not import; then takes requests until the host closes the control socket."""
    imported = barrier.imported_by_package()
    gc.collect()
    pages.trim()
    gc.freeze()
    threads = len(os.listdir("/proc/self/task"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    control.sendall(protocol.encode({"threads": threads, "peak_bytes": peak, "failure": failure}))
    poller = select.poll()
    poller.register(control, select.POLLIN)
    by_handle = {}
    by_socket = {}
    children = 0
    while True:
        ready = [descriptor for descriptor, _ in poller.poll()]
        for descriptor in ready:
            if running := by_socket.pop(descriptor, None):
                # Whatever the host says on a job's socket, its silence included, means: end this one.
                poller.unregister(descriptor)
                running.kill()
            if running := by_handle.pop(descriptor, None):
                poller.unregister(descriptor)
                if by_socket.pop(running.job_socket.fileno(), None):
                    poller.unregister(running.job_socket)
                running.reap()
        # New descriptors only now: one of them can have the number of another that was closed above.
        if control.fileno() in ready:
            request, passed = protocol.receive(control, descriptors=MOST_DESCRIPTORS)
            if request is None:
                break
            children += 1
            # A branch shares its memory with the process that it is of, and would make it its own.
            if children == MANY_CHILDREN and not is_branch:
                pages.collapse()
            running = start(request, passed, settings, known, imported)
            by_handle[running.handle] = by_socket[running.job_socket.fileno()] = running
            poller.register(running.handle, select.POLLIN)
            poller.register(running.job_socket, select.POLLIN)
    for running in by_handle.values():
        running.kill()


def start(request, passed, settings, known, imported):
    """Forks the child that runs a job or serves as a branch."""
    job_socket, *passed = passed
    parent = os.getpid()
    before = time.process_time()
    if request["request"] == "branch":
        run = functools.partial(branch, request, passed, settings, parent)
    else:
        # Looked up here, once for all children, rather than in each of them.
        sources = [barrier.locate(package, tuple(request["layers"])) for package in request["blocked_packages"]]
        run = functools.partial(child.run, request, sources, known, imported, passed, settings, parent)
    pid = os.fork()
    if pid == 0:
        # Nothing may escape from here into the parent's loop, whatever it is.
        status = child.HARNESS_FAILED
        try:
            status = run() or 0
        finally:
            os._exit(status)
    for descriptor in passed:
        os.close(descriptor)
    running = Running(pid, socket.socket(fileno=job_socket), time.process_time() - before)
    if request["request"] == "job":
        running.hand_over()
    return running
