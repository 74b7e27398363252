match[0]: int = 1
match.x: int = 2
case = match
type = case
type(case)
match(case)
match (case), type
print(match, case, type)
lambda match: case
match = {case: type}


def f(match):
    match match:
        case case:
            pass
    match match, case:
        case (case, *match), {"a": type, **others}:
            case[0]: int
        case _ if case:
            type
        case match.x | match.y:
            match: int
    case[0]: int
    case.x: int = 1
    match[case]: type = type
    match -match:
        case -1 | "a" "b" | None: x = case
    match *match, case:
        case [*_, match]: return match
