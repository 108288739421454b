-- Tries `ktx lsp` with Neovim: KTX=... nvim --headless -u NONE -l or -S session.lua FILE
local function fail(text) io.stderr:write(text .. "\n"); vim.cmd("cquit 1") end
local client = vim.lsp.start_client({ name = "ktx", cmd = { os.getenv("KTX"), "lsp", "--dialect", "postgres" }, root_dir = vim.fn.getcwd() })
if not client then fail("no client") end
vim.lsp.buf_attach_client(0, client)
local function codes()
  local list = {}
  for _, d in ipairs(vim.diagnostic.get(0)) do table.insert(list, tostring(d.code or (d.user_data and d.user_data.lsp and d.user_data.lsp.code))) end
  return table.concat(list, " ")
end
if not vim.wait(10000, function() return codes() == "ddl_statement" end, 20) then fail("diagnostics: " .. codes()) end
local answer = vim.lsp.buf_request_sync(0, "textDocument/hover", { textDocument = vim.lsp.util.make_text_document_params(), position = { line = 0, character = 1 } }, 10000)
if not vim.inspect(answer):find("ddl_statement", 1, true) then fail("hover: " .. vim.inspect(answer)) end
vim.api.nvim_buf_set_lines(0, 0, -1, false, { "SELECT 1;" })
if not vim.wait(10000, function() return codes() == "" end, 20) then fail("after a change: " .. codes()) end
print("Neovim: as expected")
vim.cmd("qall!")
