"""LangGraph with its SQLite saver on the same empty loop: a body and a judge that do nothing, every step saved.

Run by `engine_bench.py` in an environment of its own: `python peer_langgraph.py FOLDER ITERATIONS` prints one
JSON object with the milliseconds per iteration and the size of the file. Imports nothing of this product.
"""

import asyncio
import itertools
import json
import os
import sys
import time
from typing import TypedDict

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph

FOLDER, ITERATIONS = sys.argv[1], int(sys.argv[2])
STAMPS: list[float] = []


class State(TypedDict):
    number: int
    output: str
    verdict: str


async def body(state: State) -> dict:
    return {"number": state["number"] + 1, "output": f"{state['number']} " + "x" * 1024}


async def judge(state: State) -> dict:
    STAMPS.append(time.perf_counter())
    return {"verdict": "NO"}


async def main() -> None:
    graph = StateGraph(State)
    graph.add_node("body", body)
    graph.add_node("judge", judge)
    graph.add_edge(START, "body")
    graph.add_edge("body", "judge")
    graph.add_conditional_edges("judge", lambda state: END if state["number"] >= ITERATIONS else "body")
    path = f"{FOLDER}/langgraph.db"
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        app = graph.compile(checkpointer=saver)
        config = {"configurable": {"thread_id": "1"}, "recursion_limit": 3 * ITERATIONS + 10}
        start = {"number": 0, "output": "", "verdict": ""}
        async for _ in app.astream(start, config, durability="sync"):
            pass
    gaps = [1000 * (b - a) for a, b in itertools.pairwise(STAMPS)]
    size = sum(os.path.getsize(f"{FOLDER}/{name}") for name in os.listdir(FOLDER))
    print(json.dumps({"gaps": gaps, "megabytes": size / 1e6}))


asyncio.run(main())
