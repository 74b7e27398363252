base = 16
norm = dict(type="BN", size=2 * base)
if base:
    depth = 2
else:
    depth = 4
model = dict(
    type="Stack",
    width=2 * 32,
    depth=depth,
    norm=norm,
    head=dict(kind="head", size=(1, 2)),
    neck={"type": "Block", "heads": 4},
    # Makes no dictionary.
    text=str(object="Block"),
)
