# What statements bind.
import a.b.c, d as e
from .f import g, h as i
from j import *

(x, [y, *z]), w = 1, 2
x.attribute = y[0] = v = 3
counter += 1
declared: int
annotated: int = 1
(parenthesised): int = 2
module.name: int = 3
del x, (y, z[0])

for index, (left, right) in pairs:
    inside = 1
else:
    otherwise = 2

while (condition := next(steps)):
    if condition:
        conditional = 1
    elif other:
        from k import l
    else:
        m: str

with open(path) as file, lock as (n, o):
    p = 1

try:
    q = 1
except (ValueError, KeyError) as error:
    r = 1
except (  # a comment
    TypeError  # another
) as other_error:
    r = 2
else:
    s = 1
finally:
    t = 1

match command:
    case [first, *rest]:
        u = 1
    case {"key": value, **others} | Point(x=value, y=others):
        pass
    case str() as string if string:
        pass
    case _:
        pass


def function(parameter):
    global from_function
    from_function = parameter
    import local


class Class:
    global from_class
    from_class = 1
    attribute = 2

    def method(self):
        pass


results = [last := item for item in items]
globals()["by_string"] = 1
type Alias[T] = list[T]


def generic[T: (int, str), *Ts, **P](first: T, *rest: *Ts) -> T:
    return first


class Generic[T](Base[T]):
    def method(self) -> T: ...


if __name__ == "__main__":
    only_when_run = main()
