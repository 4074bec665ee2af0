-- A start that misses a text (input, goal, message, a parameter) asks for it
vim.lsp.commands["loopLs.run"] = function(command, context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  local function start(argument)
    local call = { command = command.command, arguments = { argument } }
    client:request("workspace/executeCommand", call, function(_, answer)
      local name = answer and answer.code == "input_required" and answer.names[1]
      if not name then return end
      vim.ui.input({ prompt = name .. ": " }, function(text)
        if not text then return end
        local given = { [name] = text }
        local own = name == "input" or name == "goal" or name == "message"
        start(vim.tbl_deep_extend("force", argument, own and given or { parameters = given }))
      end)
    end)
  end
  start(command.arguments[1])
end

-- :LoopApprove, :LoopReject, :LoopRevise make the end rhyme
for name, decision in pairs({ LoopApprove = "approve", LoopReject = "reject", LoopRevise = "revise" }) do
  vim.api.nvim_create_user_command(name, function(given)
    local client = vim.lsp.get_clients({ name = "loop_ls" })[1]
    local function ask(command, argument, done)
      client:request("workspace/executeCommand", { command = command, arguments = { argument } }, done)
    end
    ask("loopLs.runs", { status = "waiting_approval" }, function(_, answer)
      local run = answer.runs[1] -- the newest one
      if not run then return vim.notify("No loop is waiting for a decision.") end
      ask("loopLs.approve", { runId = run.runId, decision = decision, feedback = given.args }, function() end)
    end)
  end, { nargs = "*" })
end
