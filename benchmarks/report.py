"""The results of the retrieval benchmark as tables in Markdown and as a picture."""

from __future__ import annotations

import importlib.util
import io
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tabulate import tabulate

Results = dict[str, Any]


def figure(value: float) -> str:
    """Return three digits that count, without an exponent.

    >>> figure(0.012345), figure(12.345), figure(123456.0), figure(0.0)
    ('0.0123', '12.3', '123,456', '0')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:.0f}"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def markdown(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table: the first column to the left, the others to the right."""
    return tabulate(
        rows,
        headers=headers,
        tablefmt="pipe",
        disable_numparse=True,
        colalign=["left"] + ["right"] * (len(headers) - 1),
    )


def settings(results: Results) -> str:
    """Return what was asked for."""
    given = results["settings"]
    shares = ", ".join(f"{percent:g}" for percent in sorted(given["cutoffs"]))
    return (
        f"k = {given['k']}, {given['queries']} queries, {shares} % before the cutoff, "
        f"{given['repeats']} repeats, at least {given['warm']:g} s of warming up, "
        f"batches of {given['batch']} with {given['threads']} threads, seed {given['seed']}."
    )


def machine(results: Results) -> str:
    """Return what it ran on, and how fast that reads memory."""
    described, bandwidth = results["machine"], results["bandwidth"]
    packages = described["packages"] | {
        name: version
        for size in results["sizes"]
        for engine in size["engines"].values()
        for name, version in engine.get("build", {}).get("versions", {}).items()
    }
    rows = [
        ("processor", f"{described['cpu']}, {described['cores']} cores"),
        ("memory", f"{described['memory_bytes'] / 2**30:.0f} GiB"),
        ("system", described["system"]),
        ("Python", described["python"]),
        ("packages", ", ".join(f"{name} {version}" for name, version in sorted(packages.items()))),
        ("code", (results["commit"] or "unknown")[:12]
         + (" and changes" if (results["commit"] or "").endswith("+") else "")
         + f", sha256 {results['code_sha256'][:12]}"),
        ("reading, one core", f"{bandwidth['read_one_core'] / 1e9:.1f} GB/s"),
        (f"reading, {bandwidth['cores']} cores", f"{bandwidth['read_all_cores'] / 1e9:.1f} GB/s"),
        ("copying, one core", f"{bandwidth['copy_one_core'] / 1e9:.1f} GB/s"),
    ]  # fmt: skip
    return tabulate(rows, headers=("", ""), tablefmt="pipe", disable_numparse=True)


def collections(results: Results) -> str:
    """Return what was searched."""
    rows = []
    for size in results["sizes"]:
        made, documents = size["collection"], size["documents"]
        shares = ", ".join(
            f"{figure(postings)} at {percent} %"
            for percent, postings in _by_share(made["postings_a_query"])
        )
        rows.append(
            (
                f"{documents:,}",
                figure(made["tokens"] / documents),
                figure(made["postings"] / documents),
                str(results["settings"]["queries"]),
                figure(made["terms_a_query"]),
                shares,
            )
        )
    headers = ("documents", "terms each", "distinct", "queries", "terms each", "postings a query")
    return markdown(headers, rows)


def search_single(results: Results) -> str:
    """Return CPU milliseconds of a query alone: median of the repeats, and their quartiles."""
    return _by_size(results, _times("single", "cpu_ms"))


def latency(results: Results) -> str:
    """Return wall milliseconds of a query alone: 50th, 95th and 99th percentile."""

    def rows(engine: Results, percent: str) -> str:
        percentiles = engine["single"][percent]["wall_ms_of_queries"]
        return " / ".join(figure(percentiles[p]) for p in ("p50", "p95", "p99"))

    return _by_size(results, rows)


def search_batch(results: Results) -> str:
    """Return CPU milliseconds a query in a batch."""
    return _by_size(results, _times("batch", "cpu_ms"))


def search_batch_wall(results: Results) -> str:
    """Return wall milliseconds a query in a batch, with the threads of the settings."""
    return _by_size(results, _times("batch", "wall_ms"))


def ratios(results: Results) -> str:
    """Return how many times the CPU time of the project's engine of the family another takes."""
    own = {"lexical": "bm25", "dense": "dense"}
    tables = []
    for size in results["sizes"]:
        measured = dict(_measured(size))
        rows = []
        for name, engine in measured.items():
            base = measured.get(own[engine["family"]])
            if base is None or base is engine:
                continue
            rows.append(
                (
                    f"{name} / {own[engine['family']]}",
                    *(
                        _ratio(engine[mode][percent], base[mode][percent])
                        for mode in ("single", "batch")
                        for percent in percents_of(size)
                    ),
                )
            )
        if not rows:
            continue
        percents = [f"{percent} %" for percent in percents_of(size)]
        headers = [size_name(size), *percents, *(f"batch, {percent}" for percent in percents)]
        tables.append(markdown(headers, rows))
    return "\n\n".join(tables) or "The project's own engine was not measured beside another."


def index(results: Results) -> str:
    """Return what building, storing and opening costs."""
    headers = (
        "build s", "CPU s", "documents/s", "build MB", "index MB", "bytes/posting", "open ms",
        "first ms", "search MB",
    )  # fmt: skip
    tables = []
    for size in results["sizes"]:
        rows = [
            (
                name,
                figure(engine["build"]["wall_seconds"]),
                figure(engine["build"]["cpu_seconds"]),
                f"{engine['documents_a_second']:,.0f}",
                f"{engine['build']['peak_memory'] / 1e6:,.0f}",
                f"{engine['build']['bytes'] / 1e6:,.0f}",
                figure(engine["bytes_a_posting"]) if "bytes_a_posting" in engine else "",
                figure(engine["open_ms"]["median"]),
                figure(engine["first_ms"]["median"]),
                f"{engine['search_peak_memory'] / 1e6:,.0f}",
            )
            for name, engine in _measured(size)
        ]
        tables.append(markdown((size_name(size), *headers), rows))
    return "\n\n".join(tables)


def floor(results: Results) -> str:
    """Return the bytes that a query must read, the time that takes, and the time it took."""
    tables = []
    for size in results["sizes"]:
        rows = []
        for name, engine in _measured(size):
            for percent, work in _by_share(engine["work"]):
                took = engine["single"][percent]
                rows.append(
                    (
                        name,
                        f"{percent} %",
                        f"{work['bytes'] / 1e6:,.2f}",
                        figure(work["floor_ms"]),
                        figure(took["cpu_ms"]["median"]),
                        figure(took["cpu_ms"]["median"] / work["floor_ms"])
                        if work["floor_ms"]
                        else "",
                        figure(took["cpu_ns_a_posting"]) if "cpu_ns_a_posting" in took else "",
                    )
                )
        headers = (size_name(size), "before", "MB", "floor ms", "CPU ms", "times", "ns/posting")
        tables.append(markdown(headers, rows))
    return "\n\n".join(tables)


def checks(results: Results) -> str:
    """Return the outcome of every engine."""
    rows = []
    for size in results["sizes"]:
        for name, engine in size["engines"].items():
            outcome = engine.get("reason", "as the oracle, alone and in batches")
            rows.append((name, f"{size['documents']:,}", engine["status"], outcome))
    return tabulate(
        rows,
        headers=("engine", "documents", "", ""),
        tablefmt="pipe",
        disable_numparse=True,
        colalign=("left", "right", "left", "left"),
    )


BLOCKS: dict[str, Callable[[Results], str]] = {
    "settings": settings,
    "machine": machine,
    "collections": collections,
    "checks": checks,
    "search-single": search_single,
    "latency": latency,
    "search-batch": search_batch,
    "search-batch-wall": search_batch_wall,
    "ratios": ratios,
    "index": index,
    "floor": floor,
}

TITLES = {
    "settings": "Settings",
    "machine": "Machine",
    "collections": "Collections",
    "checks": "Checked against the oracle",
    "search-single": "One query at a time, one thread: CPU ms (quartiles over repeats)",
    "latency": "One query at a time: wall ms, 50th / 95th / 99th percentile of all queries",
    "search-batch": "In batches: CPU ms a query (quartiles over repeats)",
    "search-batch-wall": "In batches: wall ms a query (quartiles over repeats)",
    "ratios": "CPU time in multiples of the project's own engine",
    "index": "Index",
    "floor": "Bytes a query must read over what one core reads a second, and the CPU time it took",
}


def page(results: Results) -> str:
    """Return all tables as one page."""
    parts = ["# Retrieval benchmark"]
    for name, block in BLOCKS.items():
        parts += [f"## {TITLES[name]}", block(results)]
    return "\n\n".join(parts) + "\n"


def size_name(size: Results) -> str:
    """Return the corner of a table."""
    return f"{size['documents']:,} documents"


def percents_of(size: Results) -> list[str]:
    """Return the shares before the cutoff, ascending; JSON sorts them as text."""
    return sorted(size["collection"]["ends"], key=float)


def _by_share(values: dict[str, Any]) -> list[tuple[str, Any]]:
    return sorted(values.items(), key=lambda item: float(item[0]))


def _measured(size: Results) -> Iterator[tuple[str, Results]]:
    for name, engine in size["engines"].items():
        if engine["status"] == "measured":
            yield name, engine


def _by_size(results: Results, cell: Callable[[Results, str], str]) -> str:
    tables = []
    for size in results["sizes"]:
        percents = percents_of(size)
        rows = [
            (name, *(cell(engine, percent) for percent in percents))
            for name, engine in _measured(size)
        ]
        tables.append(markdown((size_name(size), *(f"{p} %" for p in percents)), rows))
    return "\n\n".join(tables)


def _times(mode: str, clock: str) -> Callable[[Results, str], str]:
    def cell(engine: Results, percent: str) -> str:
        spread = engine[mode][percent][clock]
        return f"{figure(spread['median'])} ({figure(spread['q1'])}-{figure(spread['q3'])})"

    return cell


def _ratio(other: Results, own: Results) -> str:
    return f"{other['cpu_ms']['median'] / own['cpu_ms']['median']:.2f}"


_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKS = "osD^vPX"
_PANELS = (("single", "one query at a time"), ("batch", "in batches"))


def svg(results: Results) -> str | None:
    """Return an SVG of the CPU time of a query; None without matplotlib.

    A row a size and family of engines, single queries on the left, batches on the right. The
    dotted line is the time in which one core reads what a query needs of the project's own index.
    """
    if importlib.util.find_spec("matplotlib") is None:
        return None
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    with rc_context(
        {"svg.hashsalt": "arena", "svg.fonttype": "none", "font.size": 10, "axes.titlesize": 11}
    ):
        figure = draw(results)
        FigureCanvasSVG(figure)
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def draw(results: Results) -> Any:
    """Return the matplotlib figure."""
    from matplotlib.figure import Figure

    rows = [
        (size, family, engines)
        for size in results["sizes"]
        for family in ("lexical", "dense")
        if (engines := _family(results, size, family))
    ]
    figure = Figure(figsize=(10.5, 0.4 + 3.1 * max(len(rows), 1)), layout="constrained")
    if not rows:
        return figure
    for axes, (size, family, engines) in zip(
        figure.subplots(len(rows), 2, squeeze=False, sharey="row"), rows, strict=True
    ):
        for panel, (mode, title) in zip(axes, _PANELS, strict=True):
            _panel(panel, size, engines, mode)
            panel.set_title(f"{size['documents']:,} documents, {family}, {title}")
        lowest = min(
            engine[mode][percent]["cpu_ms"]["q1"]
            for engine in engines.values()
            for mode, _ in _PANELS
            for percent in percents_of(size)
        )
        axes[0].set_ylim(bottom=lowest / 4)  # a floor may lie far below, and flatten the rest
        axes[0].set_ylabel("CPU ms a query")
        handles, labels = axes[0].get_legend_handles_labels()
        last = [i for i, label in enumerate(labels) if "\n" in label]  # the floor
        order = [i for i in range(len(labels)) if i not in last] + last
        axes[1].legend(
            [handles[i] for i in order], [labels[i] for i in order],
            loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False,
        )  # fmt: skip
    for panel in axes:
        panel.set_xlabel("documents before the cutoff")
    return figure


def _family(results: Results, size: Results, family: str) -> dict[str, Results]:
    engines = {name: size["engines"][name] for name in results["settings"]["engines"]}
    return {
        name: engine
        for name, engine in engines.items()
        if engine["status"] == "measured" and engine["family"] == family
    }


def _panel(axes: Any, size: Results, engines: dict[str, Results], mode: str) -> None:
    percents = percents_of(size)
    places = range(len(percents))
    for i, (name, engine) in enumerate(engines.items()):
        times = [engine[mode][percent]["cpu_ms"] for percent in percents]
        middle = [t["median"] for t in times]
        spread = (
            [t["median"] - t["q1"] for t in times],
            [t["q3"] - t["median"] for t in times],
        )
        axes.errorbar(
            places, middle, spread, label=name, color=_COLOURS[i % len(_COLOURS)], capsize=3,
            marker=_MARKS[i % len(_MARKS)], markersize=5,
            linewidth=2.4 if engine["native"] else 1.2,
        )  # fmt: skip
    own = next((name for name, engine in engines.items() if engine["native"]), None)
    if own is not None and mode == "single":
        floor = [engines[own]["work"][percent]["floor_ms"] for percent in percents]
        axes.plot(places, floor, ":", color="#555555", label=f"bytes of {own}\nover bandwidth")
    axes.set_yscale("log")
    axes.set_xticks(places, [f"{percent} %" for percent in percents])
    axes.grid(axis="y", which="major", color="#dddddd")
    axes.set_axisbelow(True)
    axes.yaxis.set_major_formatter("{x:g}")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
