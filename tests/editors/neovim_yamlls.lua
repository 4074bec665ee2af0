-- yaml-language-server takes the `$schema` of a workflow for the path of a file: it stays away from loop files
local function is_loop_file(buffer)
  local name = vim.fs.basename(vim.api.nvim_buf_get_name(buffer))
  if name == ".loop-ls.yaml" or name:find("%.assistant%.ya?ml$") then return true end
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, 50, false)) do
    if line:find("^[\"']?%$schema[\"']?%s*:%s*[\"']?workflow/v2%.0") then return true end
  end
end

vim.lsp.config("yamlls", {
  root_dir = function(buffer, use)
    if not is_loop_file(buffer) then use(vim.fs.root(buffer, { ".git" }) or vim.fn.getcwd()) end
  end,
})
vim.lsp.enable("yamlls")

-- a file becomes one of ours while it is written
vim.api.nvim_create_autocmd({ "InsertLeave", "TextChanged" }, {
  callback = function(event)
    for _, client in ipairs(vim.lsp.get_clients({ name = "yamlls", bufnr = event.buf })) do
      if is_loop_file(event.buf) then vim.lsp.buf_detach_client(event.buf, client.id) end
    end
  end,
})
