"""Operations: what can be asked of an engine and of the language server, one row each.

HTTP routes and their description, the calls of the client, the commands of editors, and the checks of what comes in
are made from this table; tests compare the tools of agents and the verbs of the command line with it. Plain Python:
the language server reads it at its start. `request`, `query` and `answer` name types of `contract.requests` and
`contract.answers`, which `contract.validation` loads when the first one is needed.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

API = "/api/v1"
LOOPS = f"{API}/loops"
LOOP = f"{LOOPS}/{{id}}"

#: What a person may do, from the least on: each may do what those before it may.
Role = Literal["viewer", "editor", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
Method = Literal["GET", "POST", "PATCH", "DELETE"]

#: Bytes of a body: an exported run holds all outputs of it, an acknowledgement the text of a whole document.
RUN_LIMIT = 256 * 1024 * 1024
TEXT_LIMIT = 16 * 1024 * 1024


class Operation(NamedTuple):
    """`role` None: no token is needed; `owner_too`: the owner may, whatever the role. `path` names parameters as the
    server does (`{id}`). `refusals` are the HTTP statuses besides those that every operation has. `body_limit`: bytes,
    where it is not the usual one. `answer` is a type, or the plain text that comes instead of JSON."""

    name: str
    method: Method
    path: str
    operation_id: str
    text: str
    answer: str
    role: Role | None = "viewer"
    request: str | None = None
    body_required: bool = False
    body_limit: int | None = None
    query: str | None = None
    headers: str | None = None
    status: int = 200
    #: Statuses of other successes, with their answers.
    otherwise: tuple[tuple[int, str], ...] = ()
    refusals: tuple[int, ...] = ()
    content: str = "application/json"
    owner_too: bool = False
    tags: tuple[str, ...] = ("loops",)
    #: Verbs of `loop-ls`, such as `runs fork`.
    cli: tuple[str, ...] = ()
    #: Tools of the MCP server.
    tools: tuple[str, ...] = ()


class Command(NamedTuple):
    """A command of `workspace/executeCommand`. `operation` None: the language server answers it by itself.
    `told`: a refusal of it is shown to whoever clicked, as most editors throw answers away."""

    name: str
    argument: str
    operation: str | None = None
    told: bool = False


_READING = (
    Operation(
        "runs",
        "GET",
        LOOPS,
        "listLoops",
        "The newest loops, and the number of running ones.",
        "LoopList",
        query="LoopListQuery",
        refusals=(503,),
        cli=("runs list",),
        tools=("loop_list",),
    ),
    Operation(
        "inbox",
        "GET",
        f"{API}/inbox",
        "getInbox",
        "Everything that waits for a person, with its answers; and what happened since a position.",
        "Inbox",
        query="InboxQuery",
        refusals=(503,),
        cli=("runs inbox",),
        tools=("loop_inbox",),
    ),
    Operation(
        "active_count", "GET", f"{LOOPS}/active/count", "countActiveLoops", "Number of running loops.", "ActiveCount"
    ),
    Operation(
        "definitions",
        "GET",
        f"{LOOPS}/definitions",
        "listDefinitions",
        "What can be started by name.",
        "DefinitionList",
        refusals=(503,),
        cli=("definitions",),
        tools=("loop_definitions",),
    ),
    Operation(
        "show",
        "GET",
        LOOP,
        "getLoop",
        "A loop with its latest iteration.",
        "ShownLoop",
        tools=("loop_status",),
    ),
    Operation(
        "status", "GET", f"{LOOP}/state", "getState", "Only the state of a run.", "StateAnswer", cli=("runs status",)
    ),
    Operation(
        "history",
        "GET",
        f"{LOOP}/history",
        "getHistory",
        "Iterations with output, verdict, question and answer, in pages.",
        "History",
        query="HistoryQuery",
        cli=("runs show", "runs diff", "runs compare"),
    ),
    Operation(
        "changes",
        "GET",
        f"{LOOP}/changes",
        "getChanges",
        "What a loop changed in its own worktree (`isolate: worktree`): files, diff and commits.",
        "RunChanges",
        refusals=(409, 503),
        cli=("runs changes",),
        tools=("loop_changes",),
    ),
    Operation(
        "metrics",
        "GET",
        f"{LOOP}/metrics",
        "getMetrics",
        "Counts, durations and cost of a loop.",
        "Metrics",
    ),
    Operation(
        "prompts",
        "GET",
        f"{LOOP}/prompts",
        "listPrompts",
        "The prompts of models and agents, rebuilt from the record.",
        "PromptList",
        query="PromptsQuery",
        refusals=(503,),
        cli=("runs prompts",),
    ),
    Operation(
        "artifacts",
        "GET",
        f"{LOOP}/artifacts",
        "listArtifacts",
        "What the stages of a role loop recorded: artifacts (without their texts), todos, sprints and memories.",
        "RunArtifacts",
        query="ArtifactsQuery",
        refusals=(503,),
        cli=("runs artifacts",),
    ),
    Operation(
        "artifact",
        "GET",
        f"{LOOP}/artifacts/{{artifact:path}}",
        "getArtifact",
        "One artifact with its text.",
        "OneArtifact",
        refusals=(503,),
        cli=("runs artifacts",),
    ),
    Operation(
        "events",
        "GET",
        f"{LOOP}/events",
        "listEvents",
        "The events of a run, in pages.",
        "EventPage",
        query="EventsQuery",
        refusals=(503,),
        cli=("runs events", "runs report"),
    ),
    Operation(
        "view",
        "GET",
        f"{LOOP}/view",
        "getView",
        "What the panel shows: loops, iterations, steps, rounds and graph of a run; or only what is new.",
        "ViewPage",
        query="ViewQuery",
        refusals=(503,),
    ),
    Operation(
        "graph",
        "GET",
        f"{LOOP}/graph",
        "getGraph",
        "The steps and loops of a run and their dependencies, as they were when it started.",
        "Graph",
        query="GraphQuery",
        refusals=(503,),
    ),
    Operation(
        "iterations",
        "GET",
        f"{LOOP}/iterations",
        "listIterations",
        "The iterations of a loop, in pages.",
        "IterationPage",
        query="IterationsQuery",
    ),
    Operation(
        "iteration",
        "GET",
        f"{LOOP}/iterations/{{iteration:path}}",
        "getIteration",
        "One iteration.",
        "OneIteration",
    ),
)

_ENHANCING = (
    Operation(
        "enhance_status",
        "GET",
        f"{LOOP}/enhance/status",
        "getEnhanceStatus",
        "The state of an enhance loop: its round, and what it has spent.",
        "EnhanceStatus",
        refusals=(503,),
    ),
    Operation(
        "enhance_timeline",
        "GET",
        f"{LOOP}/enhance/timeline",
        "getEnhanceTimeline",
        "The rounds of an enhance loop: what failed, what was proposed, applied and refused, and why.",
        "EnhanceTimeline",
        refusals=(503,),
    ),
    Operation(
        "enhance_acknowledge",
        "POST",
        f"{LOOP}/enhance/acknowledge",
        "acknowledgeEdit",
        "Report the result of an edit that the loop sent to an editor.",
        "Acknowledged",
        role="editor",
        request="Acknowledge",
        headers="EditorHeaders",
        body_required=True,
        body_limit=TEXT_LIMIT,
        refusals=(409, 503),
    ),
    Operation(
        "enhance_choose",
        "POST",
        f"{LOOP}/enhance/choose",
        "chooseNextRound",
        "Choose how a loop that waits between rounds continues.",
        "Chosen",
        role="editor",
        request="Choose",
        headers="EditorHeaders",
        body_required=True,
        body_limit=TEXT_LIMIT,
        refusals=(409, 503),
        tools=("loop_control",),
    ),
    Operation(
        "enhance_feedback",
        "POST",
        f"{LOOP}/enhance/feedback",
        "giveFeedback",
        "Give feedback on a round, or on one of its steps.",
        "Done",
        role="editor",
        request="Feedback",
        body_required=True,
        body_limit=TEXT_LIMIT,
        refusals=(409, 503),
        tools=("loop_control",),
    ),
)

_DERIVING = (
    Operation(
        "fork",
        "POST",
        f"{LOOP}/fork",
        "forkLoop",
        "Start a new run that reuses everything before `iteration` (or before the place `at`, with another "
        "`prompt`); the rest is billed.",
        "NewRun",
        role="editor",
        request="Fork",
        status=201,
        refusals=(404, 409, 503),
        cli=("runs fork",),
    ),
    Operation(
        "replay",
        "POST",
        f"{LOOP}/replay",
        "replayLoop",
        "Apply the recorded answers to the current files, without any calls.",
        "NewRun",
        role="editor",
        request="Replay",
        status=201,
        refusals=(404, 409, 503),
        cli=("runs replay",),
    ),
    Operation(
        "export",
        "GET",
        f"{LOOP}/export",
        "exportLoop",
        "All of a run as one JSON object, without secrets.",
        "Exported",
        refusals=(503,),
        cli=("runs export",),
    ),
    Operation(
        "take_in",
        "POST",
        f"{API}/import",
        "importLoop",
        "Import an exported run; it is shown, but cannot continue.",
        "Imported",
        role="editor",
        request="ExportedRun",
        body_required=True,
        body_limit=RUN_LIMIT,
        status=201,
        refusals=(503,),
        cli=("runs import",),
    ),
    Operation(
        "test_until",
        "POST",
        f"{API}/test-until",
        "testUntil",
        "Test the judge of a loop with an output, or with those of a run, any number of times.",
        "Verdicts",
        role="editor",
        request="TestUntil",
        refusals=(404, 409, 429, 503),
        cli=("test-until",),
    ),
)


def _control(verb: Literal["pause", "resume", "stop"]) -> Operation:
    return Operation(
        verb,
        "POST",
        f"{LOOP}/{verb}",
        f"{verb}Loop",
        f"{verb.capitalize()} a loop, or `all` of yours.",
        "Controlled",
        role="editor",
        request="Control",
        refusals=(409, 503),
        cli=(f"runs {verb}",),
        tools=("loop_control",),
    )


_ACTING = (
    Operation(
        "start",
        "POST",
        LOOPS,
        "startLoop",
        "Start a loop by the name of its definition, or a run of a file.",
        "Started",
        role="editor",
        request="Start",
        body_required=True,
        headers="StartHeaders",
        status=201,
        otherwise=((200, "Agreed"),),
        refusals=(404, 409, 429, 503),
        cli=("run", "enhance"),
        tools=("loop_start",),
    ),
    Operation(
        "change",
        "PATCH",
        LOOP,
        "changeLoop",
        "Change goal, limit, metadata or labels of a loop.",
        "ShownLoop",
        role="editor",
        request="Change",
        body_required=True,
        refusals=(409, 503),
    ),
    Operation(
        "delete",
        "DELETE",
        LOOP,
        "deleteLoop",
        "Delete an ended loop from the record, or `all` of yours.",
        "Deleted",
        role="editor",
        refusals=(409, 503),
        cli=("runs delete",),
    ),
    _control("pause"),
    _control("resume"),
    _control("stop"),
    Operation(
        "approve",
        "POST",
        f"{LOOP}/approve",
        "approveLoop",
        "Answer a question of a loop; the first answer counts.",
        "Approved",
        role="editor",
        request="Approve",
        refusals=(409, 503),
        cli=("runs approve", "runs reject"),
    ),
    Operation(
        "answer",
        "POST",
        f"{LOOP}/answer",
        "answerLoop",
        "Answer the question of a waiting loop with one of the answers in its inbox entry; the first answer counts.",
        "Answered",
        role="editor",
        request="Answer",
        body_required=True,
        refusals=(409, 503),
        cli=("runs answer",),
        tools=("loop_answer",),
    ),
    Operation(
        "note",
        "POST",
        f"{LOOP}/note",
        "noteLoop",
        "Send a note to a running loop: it is added to the next prompt, once.",
        "Noted",
        role="editor",
        request="Note",
        body_required=True,
        refusals=(409, 503),
        cli=("runs note",),
    ),
    Operation(
        "decide_changes",
        "POST",
        f"{LOOP}/changes",
        "decideChanges",
        "Apply, keep or discard the changes of an ended loop with its own worktree.",
        "ChangesDone",
        role="editor",
        request="DecideChanges",
        body_required=True,
        refusals=(409, 503),
        cli=("runs apply", "runs keep", "runs discard"),
        tools=("loop_changes",),
    ),
    Operation(
        "restore",
        "POST",
        f"{LOOP}/restore",
        "restoreLoop",
        "Restore the branch of an ended loop with its own worktree to an iteration, with a new commit.",
        "ChangesDone",
        role="editor",
        request="Restore",
        body_required=True,
        refusals=(409, 503),
        cli=("runs restore",),
    ),
)

_AUTHORING = (
    Operation(
        "check",
        "POST",
        f"{API}/check",
        "checkFile",
        "Findings of a loop file, as saved or with the given text; each with its fix.",
        "CheckedFile",
        role="editor",
        request="CheckFile",
        body_required=True,
        body_limit=TEXT_LIMIT,
        refusals=(404, 503),
        cli=("check",),
        tools=("loop_check",),
    ),
    Operation(
        "estimate",
        "POST",
        f"{API}/estimate",
        "estimateFile",
        "Minimum and maximum calls and cost of a run of a file.",
        "FileEstimate",
        role="editor",
        request="EstimateFile",
        body_required=True,
        refusals=(404, 503),
        cli=("estimate",),
        tools=("loop_estimate",),
    ),
)

_ENGINE = (
    Operation(
        "stream",
        "GET",
        f"{API}/events",
        "streamEvents",
        "Server-sent events of all runs or one; `id:` is the position, so that `Last-Event-ID` works.",
        "str",
        query="StreamQuery",
        headers="EditorHeaders",
        content="text/event-stream",
        refusals=(404, 503),
        tags=("engine",),
    ),
    Operation(
        "engine_status",
        "GET",
        f"{API}/engine",
        "getEngine",
        "Information about the engine.",
        "EngineStatus",
        tags=("engine",),
        cli=("engine status",),
    ),
    Operation(
        "engine_stop",
        "POST",
        f"{API}/engine/stop",
        "stopEngine",
        "Shut down the engine after calls in progress; unfinished runs continue when it is started again.",
        "EngineStopping",
        role="admin",
        owner_too=True,
        request="EngineStop",
        tags=("engine",),
        cli=("engine stop",),
    ),
    Operation(
        "numbers",
        "GET",
        "/metrics",
        "getNumbers",
        "Runs, calls, tokens, dollars and durations as Prometheus text.",
        "str",
        content="text/plain",
        tags=("engine",),
    ),
    Operation(
        "health",
        "GET",
        "/health",
        "getHealth",
        "Whether the engine is ready.",
        "Health",
        role=None,
        tags=("engine",),
    ),
    Operation(
        "openapi",
        "GET",
        "/openapi.json",
        "getOpenApi",
        "This document.",
        "OpenApi",
        role=None,
        tags=("engine",),
    ),
)

_PAGE = (
    Operation(
        "page_code",
        "POST",
        f"{API}/page/code",
        "createPageCode",
        "A short-lived, one-time sign-in code for a page in a browser.",
        "PageCode",
        request="CreatePageCode",
        tags=("page",),
        cli=("ui",),
    ),
    Operation(
        "page_sign_in",
        "POST",
        f"{API}/page/sign-in",
        "signInPage",
        "Exchange a sign-in code for the token of a page.",
        "PageSignedIn",
        role=None,
        request="SignInPage",
        body_required=True,
        tags=("page",),
    ),
    Operation(
        "page_sign_out",
        "POST",
        f"{API}/page/sign-out",
        "signOutPage",
        "Revoke the token of this page.",
        "Done",
        tags=("page",),
    ),
)

#: In the order of the documents that are made of it; paths without an id come before those with one.
OPERATIONS: dict[str, Operation] = {
    one.name: one for one in (*_READING, *_ENHANCING, *_DERIVING, *_ACTING, *_AUTHORING, *_ENGINE, *_PAGE)
}

COMMANDS: dict[str, Command] = {
    one.name: one
    for one in (
        Command("loopLs.run", "RunCommand", "start", told=True),
        Command("loopLs.stop", "OfRun", "stop", told=True),
        Command("loopLs.pause", "OfRun", "pause", told=True),
        Command("loopLs.resume", "OfRun", "resume", told=True),
        Command("loopLs.approve", "ApproveCommand", "approve", told=True),
        Command("loopLs.inbox", "InboxCommand", "inbox"),
        Command("loopLs.answer", "AnswerCommand", "answer", told=True),
        Command("loopLs.note", "NoteCommand", "note", told=True),
        Command("loopLs.changes", "OfRun", "changes", told=True),
        Command("loopLs.decideChanges", "DecideChangesCommand", "decide_changes", told=True),
        Command("loopLs.restore", "RestoreCommand", "restore", told=True),
        Command("loopLs.runs", "RunsCommand", "runs"),
        Command("loopLs.status", "StatusCommand", "status"),
        Command("loopLs.events", "EventsCommand", "events"),
        Command("loopLs.view", "ViewCommand", "view"),
        Command("loopLs.history", "HistoryCommand", "history", told=True),
        Command("loopLs.metrics", "OfRun", "metrics"),
        Command("loopLs.artifacts", "OfRun", "artifacts"),
        Command("loopLs.artifact", "ArtifactCommand", "artifact", told=True),
        Command("loopLs.delete", "OfRun", "delete"),
        Command("loopLs.export", "OfRun", "export"),
        Command("loopLs.import", "ImportCommand", "take_in"),
        Command("loopLs.fork", "ForkCommand", "fork", told=True),
        Command("loopLs.replay", "ReplayCommand", "replay", told=True),
        Command("loopLs.testUntil", "TestUntilCommand", "test_until", told=True),
        Command("loopLs.definitions", "DefinitionsCommand"),
        Command("loopLs.previewPrompt", "PreviewCommand"),
        Command("loopLs.estimate", "EstimateCommand"),
        Command("loopLs.enhance.start", "EnhanceStartCommand", "start", told=True),
        Command("loopLs.enhance.continue", "EnhanceCommand", "enhance_choose", told=True),
        Command("loopLs.enhance.skipEdits", "EnhanceCommand", "enhance_choose", told=True),
        Command("loopLs.enhance.stop", "EnhanceCommand", "stop", told=True),
        Command("loopLs.enhance.status", "EnhanceCommand", "enhance_status"),
        Command("loopLs.enhance.timeline", "EnhanceCommand", "enhance_timeline", told=True),
        Command("loopLs.enhance.revert", "EnhanceCommand", "export", told=True),
        Command("loopLs.enhance.feedback", "EnhanceFeedbackCommand", "enhance_feedback", told=True),
        Command("loopLs.enhance.enable", "EnhanceEnableCommand", told=True),
        Command("loopLs.enhance.setup", "EnhanceSetupCommand"),
        Command("loopLs.assistant.setup", "AssistantSetupCommand"),
        Command("loopLs.engine.status", "NoArgument", "engine_status"),
        Command("loopLs.engine.restart", "NoArgument", "engine_stop", told=True),
    )
}
