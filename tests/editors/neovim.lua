vim.lsp.config("loop_ls", {
  cmd = { "loop-ls", "serve" },
  filetypes = { "yaml", "json", "jsonc" },
  root_markers = { ".loop-ls.yaml", ".git" },
})
vim.lsp.enable("loop_ls")

local draws_by_itself = vim.lsp.codelens.enable ~= nil -- Neovim 0.12
if not draws_by_itself then -- progress, verdicts and questions appear as they come
  vim.lsp.handlers["loopLs/run"] = function() vim.lsp.codelens.refresh() end
end

vim.api.nvim_create_autocmd("LspAttach", {
  callback = function(event)
    vim.lsp.completion.enable(true, event.data.client_id, event.buf, { autotrigger = true })
    -- on a loop: run it, stop it, answer it, read it
    vim.keymap.set("n", "<leader>l", vim.lsp.codelens.run, { buffer = event.buf })
    if draws_by_itself then
      vim.lsp.codelens.enable(true, { bufnr = event.buf })
    else
      vim.lsp.codelens.refresh({ bufnr = event.buf })
    end
  end,
})
