-- Plays the person: answers menus and questions with `answers`, and keeps what was asked, told and reported.
asked, states, told = {}, {}, {}

local function choose(titles)
  for number, title in ipairs(titles) do
    if answers[1] and title:find(answers[1], 1, true) then
      table.remove(answers, 1)
      return number
    end
  end
end

vim.ui.select = function(items, options, done)
  local titles = vim.tbl_map(options.format_item or tostring, items)
  table.insert(asked, (options.prompt or "") .. " " .. table.concat(titles, " | "))
  local number = choose(titles)
  done(number and items[number], number)
end

vim.fn.inputlist = function(lines) -- how Neovim 0.7 asks
  table.insert(asked, table.concat(lines, " | "))
  return (choose(lines) or 2) - 2
end

vim.ui.input = function(options, done)
  table.insert(asked, options.prompt)
  done(table.remove(answers, 1))
end

local heard = vim.lsp.handlers["loopLs/run"]
vim.lsp.handlers["loopLs/run"] = function(...)
  local state = select(2, ...)
  states[state.runId] = state.status .. " " .. tostring(state.reason)
  return heard and heard(...)
end

local show = vim.lsp.handlers["window/showMessage"]
vim.lsp.handlers["window/showMessage"] = function(...)
  table.insert(told, select(2, ...).message)
  return show(...)
end
