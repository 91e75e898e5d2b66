"""Machine instructions that NumPy does not name: eight bytes read at once, counted and turned around."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def load_eight(typing_context: Any, array: Any, index: Any) -> Any:
    """The eight bytes of a uint8 array from `index` on, first byte lowest; the caller keeps within the array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer())
        return builder.load(address, align=1)

    return types.uint64(array, types.int64), generate


@intrinsic
def trailing_zeros(typing_context: Any, value: Any) -> Any:
    """How many low bits of a non-zero uint64 are zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@intrinsic
def swap_bytes(typing_context: Any, value: Any) -> Any:
    """The bytes of a uint64 in opposite order."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bswap(arguments[0])

    return types.uint64(types.uint64), generate
