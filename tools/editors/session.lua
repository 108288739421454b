-- Tries `ktx lsp` with Neovim: KTX=... nvim --headless -u NONE -S session.lua FILE
local function fail(text) io.stderr:write(text .. "\n"); vim.cmd("cquit 1") end
local id = vim.lsp.start_client({ name = "ktx", cmd = { os.getenv("KTX"), "lsp", "--dialect", "postgres" }, root_dir = vim.fn.getcwd() })
if not id then fail("no client") end
vim.lsp.buf_attach_client(0, id)
local function codes()
  local list = {}
  for _, d in ipairs(vim.diagnostic.get(0)) do table.insert(list, tostring(d.code or (d.user_data and d.user_data.lsp and d.user_data.lsp.code))) end
  return table.concat(list, " ")
end
local function expect(wanted, when)
  if not vim.wait(10000, function() return codes() == wanted end, 20) then fail(when .. ": " .. codes()) end
end
local here = { textDocument = vim.lsp.util.make_text_document_params() }
local function ask(method, params)
  local answer = vim.lsp.buf_request_sync(0, method, vim.tbl_extend("force", here, params), 10000)
  return answer and answer[id] and answer[id].result
end

expect("ddl_statement", "diagnostics")
if not vim.inspect(ask("textDocument/hover", { position = { line = 0, character = 1 } })):find("ddl_statement", 1, true) then fail("no hover") end

-- Typing: Neovim sends each change as an edit.
vim.api.nvim_buf_set_lines(0, 0, -1, false, { "SELECT '😀漢', 1;" })
expect("", "after a change")
vim.api.nvim_win_set_cursor(0, { 1, 0 })
vim.cmd("normal! oSELECT '😀漢', id FROM orders LIMIT 5, 10;")
expect("parse_error", "after typing")

-- The rewrite, made by Neovim, behind characters of two and of four bytes.
local range = vim.diagnostic.get(0)[1]
local at = { line = range.lnum, character = 0 }
local actions = ask("textDocument/codeAction", { range = { start = at, ["end"] = { line = range.lnum, character = 40 } }, context = { diagnostics = {} } })
for _, action in ipairs(actions or {}) do
  if action.isPreferred then vim.lsp.util.apply_workspace_edit(action.edit, vim.lsp.get_client_by_id(id).offset_encoding) end
end
local line = vim.api.nvim_buf_get_lines(0, 1, 2, false)[1]
if line ~= "SELECT '😀漢', id FROM orders LIMIT 10 OFFSET 5;" then fail("after the rewrite: " .. line) end
expect("", "after the rewrite")
if vim.lsp.get_client_by_id(id).server_capabilities.documentFormattingProvider then fail("it formats") end

vim.lsp.stop_client(id)
if not vim.wait(10000, function() return vim.lsp.client_is_stopped(id) end, 20) then fail("it does not stop") end
print("Neovim: as expected")
vim.cmd("qall!")
