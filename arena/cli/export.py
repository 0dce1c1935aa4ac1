"""``arena export``: a run as a file of another program."""

from __future__ import annotations

SUMMARY = "Write a run as a file of another program."
EXAMPLE = "arena export inspect runs/title --corpus demo/world --output logs/title.eval"


def inspect(
    run: str, *, corpus: str, output: str, tasks: str | None = None, answers: str | None = None
) -> None:
    """Write a run as a log that inspect view of inspect_ai opens.

    Args:
        run (RUN): Directory of a finished run.
        output (FILE): File to write, FILE.eval or FILE.json.
        answers (FILE): Answers of the run's language model (the store of its agent), for the text
            that it wrote.

    Example:
        arena export inspect runs/title --corpus demo/world --output logs/title.eval
    """
    from arena.corpus import Corpus
    from arena.results.inspect_log import write_inspect_log

    number = write_inspect_log(run, Corpus.open(corpus, tasks=tasks), output, answers)
    print(f"{output}: {number} samples")


COMMANDS = (inspect,)
