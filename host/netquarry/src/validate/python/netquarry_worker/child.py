"""The life of a child: confined, it climbs the levels and reports each, or does one other thing."""

import functools
import os
import sys

from netquarry_worker import (
    barrier,
    canaries,
    challenge,
    confinement,
    harvest,
    levels,
    lookups,
    memory,
    replay,
    report,
    signs,
    study,
)

FINISHED = 0
HARNESS_FAILED = 70


class NotConfined(Exception):
    """A protection that the machine has could not be had this time."""


def run(job, sources, known, imported, descriptors, settings, parent):
    """`known` is what torch holds and `imported` what modules there are, as it was when the worker started. Returns the exit
    status, which the host takes for no more than a hint."""
    confinement.detach(parent)
    report_descriptor, output_descriptor, *others = descriptors
    for stream in (1, 2):
        os.dup2(output_descriptor, stream)
    report_descriptor, *others = confinement.keep_only(report_descriptor, *others)
    others = dict(zip(job["descriptors"], others, strict=True))
    reporter = report.Report(report_descriptor, job["token"])
    try:
        in_force = confinement.apply(settings, job, others.get("ruleset"))
        if job["may_have_more"]:
            memory.expect_more()
        if probe := job["probe"]:
            _listener = canaries.listen(probe)
            reporter.send("confined", protections=[layer for layer in in_force if canaries.holds(layer, probe)])
            return FINISHED
        in_force = list(in_force)
        if missing := sorted(set(settings["required"]).difference(in_force)):
            raise NotConfined(f"this process has no {', '.join(missing)}")
        reporter.send("confined", protections=in_force)
        # Behind the environment, so that nothing stands in the place of what torch was imported with.
        sys.path.extend(job["layers"])
        barrier.install(sources, job["operator_packages"], imported)
        climbs = not any(job[task] for task in ("replay", "challenge", "lookups", "harvest"))
        bundle = levels.Bundle(job) if climbs else None
        if climbs:
            signs.listen(bundle.path, reporter)
    except Exception as error:
        reporter.send("harness", exception=report.describe(error))
        return HARNESS_FAILED
    try:
        if job["lookups"]:
            lookups.run(job, reporter)
        elif job["harvest"]:
            harvest.run(job, reporter)
        elif job["replay"]:
            replay.run(job, reporter)
        elif job["challenge"]:
            challenge.run(job, reporter, others)
        else:
            levels.climb(bundle, job["level"], reporter, functools.partial(signs.look, known, reporter))
            if job["studies"]:
                study.run(bundle, reporter)
    except memory.Short:
        reporter.send("short")
    reporter.send("done")
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass  # The bundle may have closed or replaced it.
    return FINISHED
