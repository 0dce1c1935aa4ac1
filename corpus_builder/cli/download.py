"""``arena-corpus download s2orc``."""

from __future__ import annotations

from typing import Any

from arena.cli.app import print_json, print_table, printable, resumable

SUMMARY = "Fetch the files of a release; killed at any moment, the same command goes on."


def download_s2orc(
    *,
    output: str,
    release: str = "latest",
    datasets: tuple[str, ...] = ("papers", "abstracts", "citations", "s2orc"),
    dry_run: bool = False,
    verify: bool = False,
    parallel: int = 4,
    rate: float = 1.0,
    attempts: int = 8,
    patience: float = 60.0,
    key_env: str = "S2_API_KEY",
    base_url: str = "https://api.semanticscholar.org/datasets/v1",
    json: bool = False,
) -> None:
    """Datasets of a release of Semantic Scholar, through its Datasets API.

    Args:
        output (DIR): A new directory, or one to go on with.
        release (ID): Release such as 2024-02-06.
        datasets (NAMES): Datasets with commas.
        dry_run: Only say how much it is.
        verify: Read files that are complete again, and compare.
        parallel: Files at once.
        rate (X): Most requests a second to the API.
        attempts: Attempts at a file, in a row without a byte.
        patience (SECONDS): Seconds without a byte before trying again.
        key_env (NAME): Environment variable with the key.
        base_url (URL): Address of the API.

    Example:
        arena-corpus download s2orc --release latest --output DIR
    """
    from corpus_builder.download import download, format_bytes

    with resumable():
        report = download(
            output,
            release,
            datasets,
            parallel=parallel,
            key_env=key_env,
            base_url=base_url,
            rate=rate,
            attempts=attempts,
            patience=patience,
            verify=verify,
            dry_run=dry_run,
            on_estimate=(lambda _: None) if json else _print_estimate,
            on_message=(lambda _: None) if json else _print,
        )
    if json:
        print_json(report)
    elif not dry_run:
        files = sum(dataset["files"] for dataset in report["datasets"].values())
        fetched = report["fetched"]
        print(
            f"All {files:,} files are complete; {fetched['files']:,} were fetched now "
            f"({format_bytes(fetched['bytes'])})."
        )


def _print(line: str) -> None:
    """Print a line above the bar, if there is one."""
    from tqdm import tqdm

    tqdm.write(printable(line, 1000))


def _print_estimate(report: dict[str, Any]) -> None:
    from corpus_builder.download import format_bytes as size

    print(f"release {report['release']}")
    rows = [(n, f"{of['files']:,}", size(of["bytes"])) for n, of in report["datasets"].items()]
    print_table(rows, ("dataset", "files", "size"))
    verdict = "" if report["needed_bytes"] <= report["free_bytes"] else ": TOO LITTLE"
    print(
        f"{size(report['here_bytes'])} are here, {size(report['needed_bytes'])} are to be fetched, "
        f"{size(report['free_bytes'])} are free on the disk{verdict}.",
        flush=True,
    )
