"""The class file of `arena_engines.retrievers.lucene._java`, put together from its instructions."""

from __future__ import annotations

import struct

_THIS = "arena/BM25"
_SUPER = "org/apache/lucene/search/similarities/BM25Similarity"
_SEARCH = "org/apache/lucene/search/"
_SCORER, _COLLECTOR = f"L{_SEARCH}BulkScorer;", f"L{_SEARCH}LeafCollector;"
_JAVA_11 = 55
_PUBLIC, _PROTECTED, _PUBLIC_STATIC, _PUBLIC_SUPER = 0x0001, 0x0004, 0x0009, 0x0021

_ACONST_NULL, _ILOAD_2, _ILOAD_3, _LLOAD_1 = b"\x01", b"\x1c", b"\x1d", b"\x1f"
_FLOAD_1, _FLOAD_2, _ALOAD_0, _ALOAD_1 = b"\x23", b"\x24", b"\x2a", b"\x2b"
_IRETURN, _FRETURN, _RETURN = b"\xac", b"\xae", b"\xb1"
_GETFIELD, _INVOKEVIRTUAL, _INVOKESPECIAL = b"\xb4", b"\xb6", b"\xb7"


class _Constants:
    """The constant pool: each entry once, numbered from 1."""

    def __init__(self) -> None:
        self.entries: list[bytes] = []

    def add(self, entry: bytes) -> int:
        if entry not in self.entries:
            self.entries.append(entry)
        return self.entries.index(entry) + 1

    def text(self, value: str) -> int:
        return self.add(struct.pack(">BH", 1, len(value)) + value.encode("ascii"))

    def type(self, name: str) -> int:
        return self.add(struct.pack(">BH", 7, self.text(name)))

    def member(self, tag: int, owner: str, name: str, descriptor: str) -> int:
        both = self.add(struct.pack(">BHH", 12, self.text(name), self.text(descriptor)))
        return self.add(struct.pack(">BHH", tag, self.type(owner), both))

    def field(self, name: str, descriptor: str) -> bytes:
        return struct.pack(">H", self.member(9, _THIS, name, descriptor))

    def method(self, owner: str, name: str, descriptor: str) -> bytes:
        return struct.pack(">H", self.member(10, owner, name, descriptor))


def class_file() -> bytes:
    """Return the class file."""
    pool = _Constants()
    this, parent = pool.type(_THIS), pool.type(_SUPER)

    def field(name: str, descriptor: str) -> bytes:
        return struct.pack(">HHHH", _PUBLIC, pool.text(name), pool.text(descriptor), 0)

    def method(
        access: int, name: str, descriptor: str, stack: int, variables: int, *code: bytes
    ) -> bytes:
        body = b"".join(code)
        body = struct.pack(">HHI", stack, variables, len(body)) + body + b"\0\0\0\0"
        head = struct.pack(">HHHH", access, pool.text(name), pool.text(descriptor), 1)
        return head + struct.pack(">HI", pool.text("Code"), len(body)) + body

    fields = [field("documents", "J"), field("average", "F")]
    methods = [
        method(
            _PUBLIC, "<init>", "(FF)V", 3, 3,
            _ALOAD_0, _FLOAD_1, _FLOAD_2,
            _INVOKESPECIAL, pool.method(_SUPER, "<init>", "(FF)V"), _RETURN,
        ),
        method(
            _PROTECTED, "idf", "(JJ)F", 5, 5,
            _ALOAD_0, _LLOAD_1, _ALOAD_0, _GETFIELD, pool.field("documents", "J"),
            _INVOKESPECIAL, pool.method(_SUPER, "idf", "(JJ)F"), _FRETURN,
        ),
        method(
            _PROTECTED, "avgFieldLength", f"(L{_SEARCH}CollectionStatistics;)F", 1, 2,
            _ALOAD_0, _GETFIELD, pool.field("average", "F"), _FRETURN,
        ),
        method(
            _PUBLIC_STATIC, "score", f"({_SCORER}{_COLLECTOR}II)I", 5, 4,
            _ALOAD_0, _ALOAD_1, _ACONST_NULL, _ILOAD_2, _ILOAD_3, _INVOKEVIRTUAL,
            pool.method(
                f"{_SEARCH}BulkScorer", "score", f"({_COLLECTOR}Lorg/apache/lucene/util/Bits;II)I"
            ),
            _IRETURN,
        ),
    ]  # fmt: skip
    return b"".join(
        [
            struct.pack(">IHHH", 0xCAFEBABE, 0, _JAVA_11, len(pool.entries) + 1),
            *pool.entries,
            struct.pack(">HHHHH", _PUBLIC_SUPER, this, parent, 0, len(fields)),
            *fields,
            struct.pack(">H", len(methods)),
            *methods,
            b"\0\0",
        ]
    )
