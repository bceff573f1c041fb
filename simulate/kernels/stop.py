"""A flag that compiled runs read while they play, and that another thread may set."""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

from numba import types
from numba.extending import intrinsic

__all__ = ["asked"]


@intrinsic
def asked(typing_context, flag):
    """Return flag[0]; an atomic load, which a compiler may not move out of a loop."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.load_atomic(array.data, ordering="monotonic", align=8)

    return types.int64(flag), generate
