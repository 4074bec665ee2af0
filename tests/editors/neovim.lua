vim.lsp.config("loop_ls", {
  cmd = { "loop-ls", "serve" },
  filetypes = { "yaml", "json", "jsonc" },
  root_markers = { ".loop-ls.yaml", ".git" },
})
vim.lsp.enable("loop_ls")

vim.api.nvim_create_autocmd("LspAttach", {
  callback = function(event)
    vim.lsp.completion.enable(true, event.data.client_id, event.buf, { autotrigger = true })
    vim.keymap.set("n", "<leader>l", vim.lsp.codelens.run, { buffer = event.buf }) -- on a loop: run it
    if vim.lsp.codelens.enable then
      vim.lsp.codelens.enable(true, { bufnr = event.buf })
    else
      vim.lsp.codelens.refresh({ bufnr = event.buf })
    end
  end,
})
