"""A plain model call as an agent: no process, no tools; the persona is the system prompt."""

from __future__ import annotations

from loop_ls.engine.core.ports import Failure, ModelRequest, Models
from loop_ls.engine.runners.runner import Assignment, Hear, Work, deaf
from loop_ls.text.record import equal_record


@equal_record
class ModelRunner:
    """`model` is asked where the work names none."""

    name: str
    models: Models
    model: str = ""
    program: tuple[str, ...] = ()

    async def run(self, work: Assignment, hear: Hear = deaf) -> Work:
        if not work.message.strip():
            raise Failure("empty_message", "The message of the agent is empty.", "Set what it should do.")
        reply = await self.models.ask(
            ModelRequest(
                provider=self.name,
                model=work.model or self.model,
                prompt=work.message,
                system="\n\n".join(part for part in (work.system, work.appended) if part) or None,
                timeout=work.total,
                purpose=work.purpose,
                patient=True,
                place=work.place,
                bill=work.bill,
            ),
            hear,
        )
        return Work(
            text=reply.text,
            runner=reply.provider,
            model=reply.model,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            usd=reply.usd,
            duration=reply.duration,
            session=work.session,
            response_id=reply.response_id,
        )
