def blank(first):
\
\
       
    if first:
        \
  second = first
\
        third = second
    \
# a comment
    return first
\

value = blank(1)
