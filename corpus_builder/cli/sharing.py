"""``arena-corpus export dataset``: what others get of a corpus."""

from __future__ import annotations

from arena.cli.app import print_json
from corpus_builder.cli.info import print_rows


def export_dataset(
    directory: str,
    *,
    output: str,
    full_text: str | None = None,
    json: bool = False,
) -> None:
    """Write a corpus as a data set for others: Parquet, a card, Croissant, labels apart.

    Args:
        directory (DIR): A built corpus.
        output (DIR): A new directory.
        full_text (LICENCE): Export full texts, too, whose licence this is, such as cc-by-4.0.

    Example:
        arena-corpus export dataset demo/synthetic --output exported
    """
    from corpus_builder.dataset.export import export_dataset

    about = export_dataset(directory, output, full_text)
    if json:
        print_json(about)
        return
    print_rows([(name, f"{file['bytes']:,} bytes") for name, file in about["files"].items()])
    print(f"The canary of the labels is {about['canary']}.")
