"""The Python side of validation.

`server` imports torch once and forks a child for every bundle; the child confines itself (`confinement`, tried by `canaries`), puts the
bundle's own sources out of reach (`barrier`), climbs the levels (`levels`, with `arguments` and `inputs` to find what a
constructor and a forward pass take) and reports what happened (`report`). For parity it repeats what was done, once with
the bundle and once with upstream's class (`replay`); for an audit it looks names up (`lookups`). Nothing here judges: the host does.

Nothing is imported lazily here, since after start-up this package cannot be found any more.
"""
