"""The child process of the embedded model. Reads one line of JSON, starts the server, says where.

Everything that native code prints goes to standard error; standard output carries that one line.
Standard input stays open: when it closes, nobody needs this process any more.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

CONTEXT = 8192
AT_ONCE = 2


def main() -> int:
    out = os.dup(1)
    os.dup2(2, 1)
    wanted = json.loads(sys.stdin.readline())
    server = serve(wanted["model"], wanted["key"], wanted.get("vectors", False))
    os.write(out, json.dumps({"url": server.listening_address}).encode() + b"\n")
    sys.stdin.read()
    sys.stderr.flush()
    os._exit(0)  # the native threads have nothing to save


def serve(model: str, key: str, vectors: bool) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx = CONTEXT
    params.n_parallel = AT_ONCE
    params.api_keys = [key]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    params.warmup = False
    if vectors:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    for cpu in (params.cpuparams, params.cpuparams_batch):
        # Several threads spin while they wait for each other: on a busy machine two are thirty times
        # slower than one, and for so small a model one is fast enough everywhere.
        cpu.n_threads = 1
    return xllamacpp.Server(params)


if __name__ == "__main__":
    sys.exit(main())
