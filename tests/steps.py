"""Counts the steps that a regular expression takes: an interpreter of what `re` compiles, by numba.

A step is one character or branch that the matcher looks at, as `re` would. Clocks of a busy machine
say little about a pattern, and a pattern that takes square time says much in few characters.
"""

from __future__ import annotations

import re
import re._compiler as compiler
import re._constants as sre
import re._parser as parser
from functools import lru_cache
from typing import Any

import numba
import numpy as np

CHAR, SPLIT, JUMP, SAVE, AT, GREEDY, LAZY, OWN, LOOK, ATOMIC, MATCH, SAME, INIT, TEST, IF = range(
    15
)
_ONE = (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN)
_PLACES = {
    sre.AT_BEGINNING: 0, sre.AT_BEGINNING_STRING: 0, sre.AT_END: 2, sre.AT_END_STRING: 4,
    sre.AT_BOUNDARY: 5, sre.AT_NON_BOUNDARY: 6,
}  # fmt: skip
_MOST = 1 << 30


class Program:
    """A compiled pattern: rows of (operation, three operands), and predicates of characters."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.rows: list[list[int]] = []
        self.known: dict[str, int] = {}
        self.predicates: list[Any] = []
        self.counters = 0
        tree = parser.parse(pattern, flags)
        self.groups = tree.state.groups
        self._all(tree, tree.state.flags)
        self._add(MATCH)
        self.code = np.array(self.rows, np.int64)

    def _add(self, op: int, a: int = 0, b: int = 0, c: int = 0, d: int = 0) -> int:
        self.rows.append([op, a, b, c, d])
        return len(self.rows) - 1

    def _predicate(self, node: Any, flags: int) -> int:
        name = f"{node} {flags}"
        if name not in self.known:
            state = parser.State()
            state.flags = 0
            one = parser.SubPattern(state, [node])
            self.known[name] = len(self.predicates)
            self.predicates.append(
                compiler.compile(one, flags & (re.I | re.S | re.A | re.U)).fullmatch
            )
        return self.known[name]

    def _all(self, nodes: Any, flags: int) -> None:
        for node in nodes:
            self._node(node, flags)

    def _node(self, node: Any, flags: int) -> None:
        op, value = node
        if op in _ONE:
            self._add(CHAR, self._predicate(node, flags))
        elif op is sre.AT:
            kind = _PLACES[value] + (kind_of_line(value) if flags & re.M else 0)
            self._add(AT, kind)
        elif op is sre.SUBPATTERN:
            group, more, less, inside = value
            flags = (flags | more) & ~less
            if group is not None:
                self._add(SAVE, 2 * group)
            self._all(inside, flags)
            if group is not None:
                self._add(SAVE, 2 * group + 1)
        elif op is sre.BRANCH:
            ends = []
            *others, last = value[1]
            for branch in others:
                split = self._add(SPLIT)
                self._all(branch, flags)
                ends.append(self._add(JUMP))
                self.rows[split][1:3] = [split + 1, len(self.rows)]
            self._all(last, flags)
            for end in ends:
                self.rows[end][1] = len(self.rows)
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            self._repeat(op, *value, flags)
        elif op in (sre.ASSERT, sre.ASSERT_NOT):
            direction, inside = value
            width = inside.getwidth()[0] if direction < 0 else -1
            look = self._add(LOOK, int(op is sre.ASSERT_NOT), width)
            self._all(inside, flags)
            self._add(MATCH)
            self.rows[look][3] = len(self.rows)
        elif op is sre.ATOMIC_GROUP:
            self._within(lambda: self._all(value, flags))
        elif op is sre.GROUPREF:
            self._add(SAME, value)
        elif op is sre.GROUPREF_EXISTS:
            group, yes, no = value
            test = self._add(IF, group)
            self._all(yes, flags)
            end = self._add(JUMP)
            self.rows[test][2] = len(self.rows)
            self._all(no or [], flags)
            self.rows[end][1] = len(self.rows)
        else:
            raise NotImplementedError(op)

    def _within(self, add: Any) -> None:
        start = self._add(ATOMIC)
        add()
        self._add(MATCH)
        self.rows[start][1] = len(self.rows)

    def _repeat(self, op: Any, least: int, most: Any, inside: Any, flags: int) -> None:
        most = _MOST if most is sre.MAXREPEAT else int(most)
        lazy = op is sre.MIN_REPEAT
        if len(inside) == 1 and inside[0][0] in _ONE:
            kind = OWN if op is sre.POSSESSIVE_REPEAT else LAZY if lazy else GREEDY
            self._add(kind, self._predicate(inside[0], flags), least, most)
        elif op is sre.POSSESSIVE_REPEAT:
            self._within(lambda: self._repeat(sre.MAX_REPEAT, least, most, inside, flags))
        elif (least, most) == (0, 1):
            split = self._add(SPLIT)
            self._all(inside, flags)
            ways = [split + 1, len(self.rows)]
            self.rows[split][1:3] = ways[::-1] if lazy else ways
        else:
            counter, self.counters = self.counters, self.counters + 1
            self._add(INIT, counter)
            test = self._add(TEST, counter, least, most)
            self._all(inside, flags)
            self._add(JUMP, test)
            self.rows[test][4] = len(self.rows) if not lazy else -len(self.rows)


def kind_of_line(value: Any) -> int:
    return int(value in (sre.AT_BEGINNING, sre.AT_END))


@numba.njit
def _at(kind, text, pos, lines, words):
    n = len(text)
    if kind == 0:
        return pos == 0
    if kind == 1:
        return pos == 0 or lines[text[pos - 1]]
    if kind == 2:
        return pos == n or (pos == n - 1 and lines[text[pos]])
    if kind == 3:
        return pos == n or lines[text[pos]]
    if kind == 4:
        return pos == n
    before = pos > 0 and words[text[pos - 1]]
    after = pos < n and words[text[pos]]
    return (before != after) == (kind == 5)


@numba.njit
def _run(code, table, text, lines, words, pc, pos, saved, counts, lasts, stack, base, steps):
    """Return the end of the match at a place, or -1; and the height of the stack."""
    n = len(text)
    sp = base
    while True:
        steps[0] += 1
        if steps[0] > steps[1] or sp > len(stack) - 4:
            steps[0] = max(steps[0], steps[1] + 1)
            return -1, base
        op, a, b, c, d = code[pc]
        fail = False
        if op == CHAR:
            if pos < n and table[a, text[pos]]:
                pos += 1
                pc += 1
            else:
                fail = True
        elif op == SPLIT:
            stack[sp] = (0, b, pos, 0)
            sp += 1
            pc = a
        elif op == JUMP:
            pc = a
        elif op == SAVE:
            stack[sp] = (1, a, saved[a], 0)
            sp += 1
            saved[a] = pos
            pc += 1
        elif op == AT:
            if _at(a, text, pos, lines, words):
                pc += 1
            else:
                fail = True
        elif op in (GREEDY, OWN):
            start = pos
            while pos < n and pos - start < c and table[a, text[pos]]:
                pos += 1
                steps[0] += 1
            if pos - start < b:
                fail = True
            else:
                if op == GREEDY and pos > start + b:
                    stack[sp] = (3, pc + 1, pos, start + b)
                    sp += 1
                pc += 1
        elif op == LAZY:
            start = pos
            while pos < n and pos - start < b and table[a, text[pos]]:
                pos += 1
                steps[0] += 1
            if pos - start < b:
                fail = True
            else:
                if c > b:
                    stack[sp] = (4, pc, pos, start + c)
                    sp += 1
                pc += 1
        elif op == LOOK:
            start = pos if b < 0 else pos - b
            end = -1
            if start >= 0:
                end, top = _run(code, table, text, lines, words, pc + 1, start, saved, counts,
                                lasts, stack, sp, steps)  # fmt: skip
                if end >= 0 and a == 0:
                    sp = top
                elif end >= 0:
                    while top > sp:
                        top -= 1
                        if stack[top, 0] == 1:
                            saved[stack[top, 1]] = stack[top, 2]
            if (end >= 0) == (a == 0):
                pc = c
            else:
                fail = True
        elif op == ATOMIC:
            end, top = _run(code, table, text, lines, words, pc + 1, pos, saved, counts, lasts,
                            stack, sp, steps)  # fmt: skip
            if end >= 0:
                sp, pos, pc = top, end, a
            else:
                fail = True
        elif op == MATCH:
            top = base
            for place in range(base, sp):  # what restores groups and counters stays
                if stack[place, 0] == 1 or stack[place, 0] == 2:
                    stack[top] = stack[place]
                    top += 1
            return pos, top
        elif op == SAME:
            start, end = saved[2 * a], saved[2 * a + 1]
            if start < 0 or end < 0 or pos + end - start > n:
                fail = True
            else:
                for k in range(end - start):
                    steps[0] += 1
                    if text[start + k] != text[pos + k]:
                        fail = True
                        break
                if not fail:
                    pos += end - start
                    pc += 1
        elif op == IF:
            pc = pc + 1 if saved[2 * a + 1] >= 0 else b
        elif op == INIT:
            stack[sp] = (2, a, counts[a], lasts[a])
            sp += 1
            counts[a], lasts[a] = 0, -1
            pc += 1
        elif op == TEST:
            count = counts[a]
            leave = d if d > 0 else -d
            again = count < c and (count < b or pos != lasts[a])
            if again and (count < b or d > 0):
                if count >= b:
                    stack[sp] = (0, leave, pos, 0)
                    sp += 1
                stack[sp] = (2, a, count, lasts[a])
                sp += 1
                counts[a], lasts[a] = count + 1, pos
                pc += 1
            elif again:  # lazily
                stack[sp] = (5, pc, pos, a)
                sp += 1
                pc = leave
            else:
                pc = leave
        while fail:
            if sp == base:
                return -1, base
            steps[0] += 1
            sp -= 1
            kind, x, y, z = stack[sp]
            if kind == 0:
                pc, pos, fail = x, y, False
            elif kind == 1:
                saved[x] = y
            elif kind == 2:
                counts[x], lasts[x] = y, z
            elif kind == 3:
                pc, pos, fail = x, y - 1, False
                if pos > z:
                    stack[sp] = (3, x, pos, z)
                    sp += 1
            elif kind == 4:
                if y < n and y < z and table[code[x, 1], text[y]]:
                    pc, pos, fail = x + 1, y + 1, False
                    stack[sp] = (4, x, pos, z)
                    sp += 1
            else:
                stack[sp] = (2, z, counts[z], lasts[z])
                sp += 1
                counts[z], lasts[z] = counts[z] + 1, y
                pc, pos, fail = x + 1, y, False


@numba.njit
def _search(code, table, text, lines, words, start, last, groups, counters, stack, most):
    """Return the steps of tries at places from start to last, and where the first match ends."""
    saved = np.full(2 * groups + 2, -1, np.int64)
    counts, lasts = np.zeros(counters + 1, np.int64), np.full(counters + 1, -1, np.int64)
    steps = np.array([0, most], np.int64)
    for pos in range(start, last + 1):
        saved[:] = -1
        end, _ = _run(
            code, table, text, lines, words, 0, pos, saved, counts, lasts, stack, 0, steps
        )
        if end >= 0 or steps[0] > most:
            return steps[0], pos, end
    return steps[0], -1, -1


@numba.njit
def _every(code, table, text, lines, words, groups, counters, stack, most):
    """Return the steps of all matches in a text, one behind the other."""
    total, pos = 0, 0
    while pos <= len(text) and total <= most:
        steps, start, end = _search(
            code, table, text, lines, words, pos, len(text), groups, counters, stack, most - total
        )
        total += steps
        if end < 0:
            break
        pos = max(end, start + 1)
    return total


_STACK = np.empty((1 << 21, 4), np.int64)
program = lru_cache(maxsize=None)(Program)


@lru_cache(maxsize=4)
def _characters(text: str) -> Any:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    every, places = np.unique(codes, return_inverse=True)
    letters = [chr(code) for code in every]
    lines = np.array([c == "\n" for c in letters] + [False])
    words = np.array([re.match(r"\w", c) is not None for c in letters] + [False])
    return letters, places.astype(np.int64), lines, words


@lru_cache(maxsize=4)
def _encoded(pattern: str, flags: int, text: str) -> Any:
    letters, places, lines, words = _characters(text)
    made = program(pattern, flags)
    table = np.zeros((len(made.predicates) + 1, len(letters) + 1), np.bool_)
    for row, predicate in enumerate(made.predicates):
        table[row, : len(letters)] = [predicate(c) is not None for c in letters]
    return made, table, places, lines, words


def steps_of(
    pattern: re.Pattern[str], text: str, start: int, last: int, most: int = 1 << 40
) -> tuple[int, int, int]:
    """Return the steps of looking for a pattern at places from `start` to `last`, and its match."""
    made, table, places, lines, words = _encoded(pattern.pattern, pattern.flags, text)
    found = _search(
        made.code,
        table,
        places,
        lines,
        words,
        start,
        last,
        made.groups,
        made.counters,
        _STACK,
        most,
    )
    return tuple(map(int, found))


def steps_of_use(pattern: re.Pattern[str], method: str, *arguments: Any, most: int) -> int:
    """Return the steps of a method of a pattern, as it is called."""
    if method in ("match", "fullmatch", "search"):
        text, pos, end = (*arguments, 0, len(arguments[0]))[:3] if len(arguments) != 2 else (
            *arguments, len(arguments[0])
        )  # fmt: skip
        last = end if method == "search" else pos
        return steps_of(pattern, text[:end], pos, min(last, len(text)), most)[0]
    made, *table = _encoded(pattern.pattern, pattern.flags, arguments[int("sub" in method)])
    return int(_every(made.code, *table, made.groups, made.counters, _STACK, most))
