"""The version of the contract that plugins of this package are written against."""

from enum import Enum

API_VERSION = "0.1.0"
"""Of the WIT package `netquarry:plugin`, which lies in the folder `wit` of this package."""


class Kind(Enum):
    """What a plugin does; the value is the name of its world in the contract."""

    DISCOVERY_RULE = "discovery-rule"
    REPO_SHIM = "repo-shim"
    DEDUP_STRATEGY = "dedup-strategy"
    SPEC_EMITTER = "spec-emitter"
