"""A small program that takes the words of Claude Code, Codex or opencode, and answers in its speech with one text.

`python fake_agent.py SPEAKS LOG ANSWER [words]`: what it was given goes to LOG, one line of JSON. What the real
program would refuse is refused (`cli_contract`).
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from cli_contract import refusal  # beside this file, which runs as a program


def main() -> int:
    speaks, log, answer = sys.argv[1:4]
    words, message = sys.argv[4:], sys.stdin.read()
    if (fault := refusal(speaks, words, message)) is not None:
        print(fault, file=sys.stderr)
        return 2 if speaks == "codex" and "option" in fault else 1
    with Path(log).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"words": words, "message": message, "environment": sorted(os.environ)}) + "\n")
    for event in _speech(speaks, answer):
        print(json.dumps(event), flush=True)
    return 0


def _speech(speaks: str, answer: str) -> list[dict[str, Any]]:
    match speaks:
        case "claude-code":
            usage = {"input_tokens": 100, "output_tokens": 7}
            said = {"id": "msg_1", "model": "m", "usage": usage, "content": [{"type": "text", "text": answer}]}
            end = {"type": "result", "subtype": "success", "is_error": False, "result": answer, "usage": usage}
            return [{"type": "system", "subtype": "init"}, {"type": "assistant", "message": said}, end]
        case "codex":
            item = {"id": "item_0", "type": "agent_message", "text": answer}
            usage = {"input_tokens": 100, "output_tokens": 7}
            begun = [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}]
            return [*begun, {"type": "item.completed", "item": item}, {"type": "turn.completed", "usage": usage}]
        case _:
            tokens = {"input": 100, "output": 7}
            end = {"type": "step_finish", "part": {"reason": "stop", "tokens": tokens, "cost": 0}}
            return [{"type": "step_start", "part": {}}, {"type": "text", "part": {"type": "text", "text": answer}}, end]


if __name__ == "__main__":
    sys.exit(main())
