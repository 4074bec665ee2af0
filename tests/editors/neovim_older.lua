-- Neovim 0.7 to 0.10
local clients = {}
vim.lsp.handlers["loopLs/run"] = function() vim.lsp.codelens.refresh() end -- progress and questions as they come

local function attached(_, buffer)
  vim.api.nvim_buf_set_option(buffer, "omnifunc", "v:lua.vim.lsp.omnifunc") -- Ctrl-X Ctrl-O completes
  vim.keymap.set("n", "K", vim.lsp.buf.hover, { buffer = buffer })
  vim.keymap.set("n", "<leader>l", vim.lsp.codelens.run, { buffer = buffer }) -- on a loop: run it
  vim.api.nvim_create_autocmd({ "BufEnter", "InsertLeave" }, { buffer = buffer, callback = vim.lsp.codelens.refresh })
  vim.lsp.codelens.refresh()
end

vim.api.nvim_create_autocmd("FileType", {
  pattern = { "yaml", "json", "jsonc" },
  callback = function(event)
    local folder = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(event.buf), ":p:h")
    local settings = vim.fn.findfile(".loop-ls.yaml", folder .. ";")
    local root = settings == "" and folder or vim.fn.fnamemodify(settings, ":p:h")
    local config = { name = "loop_ls", cmd = { "loop-ls", "serve" }, root_dir = root, on_attach = attached }
    if vim.lsp.start then
      vim.lsp.start(config)
    else -- 0.7
      clients[root] = clients[root] or vim.lsp.start_client(config)
      vim.lsp.buf_attach_client(event.buf, clients[root])
    end
  end,
})
