// Tries `ktx lsp` with the protocol library of Visual Studio Code: node session.js KTX
const { spawn } = require('child_process')
const assert = require('assert')
const lsp = require('vscode-languageserver-protocol/node')

const server = spawn(process.argv[2], ['lsp', '--stdio', '--dialect', 'postgres'], { stdio: ['pipe', 'pipe', 'inherit'] })
const ended = new Promise(resolve => server.on('exit', resolve))
const connection = lsp.createProtocolConnection(new lsp.StreamMessageReader(server.stdout), new lsp.StreamMessageWriter(server.stdin))
const waiting = []
const seen = []
connection.onNotification(lsp.PublishDiagnosticsNotification.type, p => { const w = waiting.shift(); w ? w(p) : seen.push(p) })
const diagnostics = () => seen.length ? Promise.resolve(seen.shift()) : new Promise(resolve => waiting.push(resolve))
connection.listen()

async function main () {
  const answer = await connection.sendRequest(lsp.InitializeRequest.type, { processId: process.pid, rootUri: null, capabilities: {} })
  assert.strictEqual(answer.serverInfo.name, 'ktx')
  assert.strictEqual(answer.capabilities.documentFormattingProvider, undefined)
  await connection.sendNotification(lsp.InitializedNotification.type, {})
  const uri = 'file:///tmp/ktx-editor-test/q.sql'
  const textDocument = { uri, languageId: 'sql', version: 1, text: 'SELECT id FROM orders LIMIT 5, 10;\n' }
  await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, { textDocument })
  let p = await diagnostics()
  assert.strictEqual(p.diagnostics[0].code, 'parse_error')
  const range = p.diagnostics[0].range
  const hover = await connection.sendRequest(lsp.HoverRequest.type, { textDocument: { uri }, position: range.start })
  assert.ok(hover.contents.value.startsWith('# parse_error'))
  const actions = await connection.sendRequest(lsp.CodeActionRequest.type, { textDocument: { uri }, range, context: { diagnostics: p.diagnostics } })
  const edit = actions.find(a => a.isPreferred).edit.changes[uri][0]
  assert.strictEqual(edit.newText, 'LIMIT 10 OFFSET 5')
  await connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, { textDocument: { uri, version: 2 }, contentChanges: [{ text: 'SELECT id FROM orders LIMIT 10 OFFSET 5;\n' }] })
  p = await diagnostics()
  assert.deepStrictEqual(p.diagnostics, [])
  await connection.sendRequest(lsp.ShutdownRequest.type)
  await connection.sendNotification(lsp.ExitNotification.type)
  assert.strictEqual(await ended, 0)
  console.log('the protocol library of Visual Studio Code: as expected')
}
main().catch(e => { console.error(e); server.kill(); process.exit(1) })
