"""Files that use much of their format at once, to be varied: rules meet in them as they do in files of users."""

from __future__ import annotations

_CALLED = """
#- draft.yaml
steps:
  - {name: write, run: "Improve {{input}} in a {{tone}} way, write READY below it"}
#- sub/tools.yaml
execution: {provider: ollama, model: llama3.2, servers: [files]}
steps:
  - {name: look, run: "Look for {{input}} in round {{loop.iteration}}"}
#- words.txt
one
"""

FILES = {
    "calls": """
env: {TONE: dry, UNUSED: "{{input}}"}
execution:
  providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
  temperature: 0.3
  max_tokens: 800
  servers: [files]
  parallel: true
  max_workers: 4
  on_error: complete_running
steps:
  - name: plan
    run: "Plan {{input}} in a {{env.TONE}} way, for {{reader}}"
  - name: look
    needs: [plan]
    template: {name: sub/tools, with: {input: "{{plan}}"}}
  - name: polish
    needs: [look]
    if: "{{look}} != ''"
    on_failure: retry
    max_retries: 2
    loop:
      workflow: draft
      with: {input: "{{look}} {{loop.last.output}}", tone: "{{env.TONE}}"}
      max_iterations: 4
      until: "The text contains READY"
      accumulate: texts
  - name: report
    needs: [polish]
    timeout: 30s
    run: "Report {{texts}} after {{loop.iteration}} rounds of {{step.polish}} and {{each}}"
loops:
  - name: each
    workflow: draft
    mode: iterate
    items: "{{plan}}"
    with: {input: "{{loop.current}}", tone: "{{loop.index}} of {{loop.count}}"}
    max_iterations: 20
    min_success_rate: 0.5
    timeout_per_item: 10s
    total_timeout: 5m
    on_failure: continue
    parallel: true
"""
    + _CALLED,
    "modes": """
execution: {provider: openai, model: gpt-4o, timeout: 60s}
steps:
  - name: find
    rag: {query: "What about {{input}}?", server: docs, top_k: 4, strategies: [near], output_format: json}
  - name: vectors
    needs: [find]
    embeddings: {input: "{{find.results}}", provider: openai, model: text-embedding-3-small, dimensions: 256}
  - name: vote
    needs: [find]
    execution_order: 2
    consensus:
      prompt: "Is {{find}} about {{input}}?"
      executions:
        - {provider: openai, model: gpt-4o, temperature: 0.1}
        - {provider: ollama, model: llama3.2}
      require: "2/3"
      timeout: 20s
  - name: answer
    needs: [vote, vectors]
    if: "{{vote}} == 'yes'"
    provider: ollama
    model: llama3.2
    servers: [files]
    skills: [tables]
    max_iterations: 5
    on_failure: continue
    run: |
      Answer {{input}} with {{find.total_results}} results:
      {{find}}
loops:
  - {name: refine, workflow: draft, with: {input: "{{answer}}", tone: "{{loop.iteration}}"}, max_iterations: 3,
     until: "It is short and it says READY", on_failure: retry, max_retries: 1, retry_delay: 2s}
"""
    + _CALLED,
    "assistant": """
#- team.assistant.yaml
assistants:
  - id: fixer
    name: Fixer
    persona: You repair failing tests.
    purpose: coding
    model: sonnet
    maxBudgetUsd: 0.5
    maxTotalBudgetUsd: 2
    allowedTools: [Read, Bash]
    permissionMode: edit
    loopEnabled: true
    maxIterations: 12
    stallAfter: 3
    approvalTimeoutSeconds: 60
    retry: {attempts: 2, backoffSeconds: 5}
    loopCriteria: {type: test_pass, value: git diff --check, timeoutSeconds: 30, cwd: app, includeOutput: true}
  - id: reader
    name: Reader
    persona: You read.
    provider: openai
    model: gpt-4o
    loopEnabled: true
    loopCriteria: {type: regex, value: "DONE|COMPLETE"}
  - id: asker
    name: Asker
    persona: You ask.
    maxBudgetUsd: 1
    maxIterations: 5
    loopEnabled: true
    loopCriteria: {type: manual}
""",
    "role loop": """
#- loops/build.json
{
  "name": "build",
  "description": "Builds a house",
  "version": 1,
  "parameters": [
    {"name": "colour", "description": "Colour of the house", "required": false, "default": "red"},
    {"name": "rooms", "description": "How many rooms", "required": true}
  ],
  "roles": [
    {"role": "coder", "name": "Builder", "order": 1, "prompt": "Build a {{colour}} house of {{rooms}} rooms.",
     "max_iterations": 9, "skills": ["bricks"]},
    {"role": "reviewer", "order": 2, "prompt": "Review it, say APPROVED or what is missing.", "gate": true,
     "requires_artifact_from": 0}
  ],
  "termination_condition": {"type": "evaluation_bound", "value": {"criteria": "It stands", "max_review_rounds": 4}},
  "approval": {"mode": "keyword", "signals": ["STANDS"]},
  "max_rework_attempts": 2
}
""",
    "role loop with a tool": """
#- loops/measure.json
{
  "name": "measure",
  "description": "Builds until it is quick",
  "parameters": [{"name": "most", "description": "The most rounds"}],
  "roles": [{"role": "coder", "prompt": "Make it quick.", "artifact_required": true, "memory_required": false}],
  "termination_condition": {
    "type": "tool_bound",
    "value": {"tool": "bench", "arguments": {"n": 3}, "operator": "<", "threshold": 1.5, "max_iterations": "{{most}}"}
  }
}
""",
    "settings": """
#- .loop-ls.yaml
rules: {WF215: "off", WF704: hint}
providers:
  acme:
    kind: openai
    baseUrl: "https://acme.example/v1"
    apiKeyEnv: ACME_KEY
    models: [big, small]
    price: {input: 1, output: 2}
servers:
  files: {command: [files-server, --root, .], env: {KEY: "${FILES_KEY}"}}
  web: {url: "https://web.example/mcp", headers: {Authorization: "Bearer ${WEB_KEY}"}}
judge: {provider: acme, model: small}
assist: {provider: acme, model: big}
roles: {coder: {provider: acme, model: big}}
limits: {maxIterations: 20, budgetUsd: 1.5, wallClock: 10m}
enhance: {maxRounds: 2, pauseBetweenRounds: true}
rag: {server: files, topK: 4}
""",
}
