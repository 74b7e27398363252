"""From the source of a plugin to its component; no part of any component."""
