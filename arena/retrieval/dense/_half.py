"""float16 in compiled code: numba has no such type on CPUs, so bits come as uint16."""

from __future__ import annotations

import platform
from importlib import import_module
from typing import Any

import numba
from numba import types
from numba.extending import intrinsic

_ir: Any = import_module("llvmlite.ir")
_config: Any = numba.config


def _has_instruction() -> bool:
    """Say whether the processor that numba compiles for converts float16 itself.

    Where it does not, LLVM calls a function that no library of the process provides.
    """
    if _config.CPU_NAME or _config.CPU_FEATURES is not None:
        return False
    if platform.machine() in ("aarch64", "arm64"):
        return True
    features: Any = import_module("llvmlite.binding").get_host_cpu_features()
    return bool(features.get("f16c"))


def _by_instruction(builder: Any, bits: Any) -> Any:
    return builder.fpext(builder.bitcast(bits, _ir.HalfType()), _ir.FloatType())


def _by_arithmetic(builder: Any, bits: Any) -> Any:
    """Widen a finite float16 anywhere: move the exponent, or multiply out a subnormal."""
    word, single = _ir.IntType(32), _ir.FloatType()

    def constant(value: int) -> Any:
        return _ir.Constant(word, value)

    bits = builder.zext(bits, word)
    magnitude = builder.and_(bits, constant(0x7FFF))
    normal = builder.add(builder.shl(magnitude, constant(13)), constant(112 << 23))
    value = builder.fmul(builder.sitofp(magnitude, single), _ir.Constant(single, 2.0**-24))
    is_subnormal = builder.icmp_unsigned("<", magnitude, constant(0x400))
    found = builder.select(is_subnormal, builder.bitcast(value, word), normal)
    sign = builder.shl(builder.and_(bits, constant(0x8000)), constant(16))
    return builder.bitcast(builder.or_(found, sign), single)


def _widening(always_by_arithmetic: bool) -> Any:
    def typed(typingctx: Any, bits: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            by_instruction = not always_by_arithmetic and _has_instruction()
            convert = _by_instruction if by_instruction else _by_arithmetic
            return convert(builder, arguments[0])

        return types.float32(types.uint16), generate

    return intrinsic(typed)


widen: Any = _widening(always_by_arithmetic=False)
"""In compiled code: the float32 of a finite float16 given as its bits."""

widen_by_arithmetic: Any = _widening(always_by_arithmetic=True)
"""The same without the processor's instruction for it."""
