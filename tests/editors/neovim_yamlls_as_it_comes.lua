-- What nvim-lspconfig brings for yaml-language-server, without its network
vim.lsp.config("yamlls", {
  cmd = { vim.env.LOOP_LS_NODE, vim.env.LOOP_LS_YAML_SERVER, "--stdio" },
  filetypes = { "yaml" },
  root_markers = { ".git" },
  settings = { yaml = { schemaStore = { enable = false, url = "" }, kubernetesCRDStore = { enable = false } } },
})
vim.lsp.enable("yamlls")
