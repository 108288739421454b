// Tries `ktx lsp` with the protocol library of Visual Studio Code, in a folder with
// two projects: node session.js KTX FOLDER
const { spawn } = require('child_process')
const assert = require('assert')
const fs = require('fs')
const path = require('path')
const { pathToFileURL } = require('url')
const lsp = require('vscode-languageserver-protocol/node')

const [ktx, folder] = process.argv.slice(2)
const write = (name, text) => {
  fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
  fs.writeFileSync(path.join(folder, name), text)
}
const at = name => pathToFileURL(path.join(folder, name)).href
const settings = dialect => `check:
  overrides:
    - {paths: ["**"], dialect: ${dialect}}
    - {paths: ["old/**"], severity: {ddl_statement: warning}}
  migrations: {paths: ["migrations/**"]}
`
write('one/ktx.yaml', settings('postgres'))
write('two/ktx.yaml', settings('mysql'))

const server = spawn(ktx, ['lsp', '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'], cwd: folder })
const ended = new Promise(resolve => server.on('exit', resolve))
const connection = lsp.createProtocolConnection(new lsp.StreamMessageReader(server.stdout), new lsp.StreamMessageWriter(server.stdin))
const latest = new Map() // the last diagnostics of each document
const waiting = []
connection.onNotification(lsp.PublishDiagnosticsNotification.type, p => {
  latest.set(p.uri, p)
  for (const check of [...waiting]) check()
})
connection.listen()

// diagnostics waits for those of a version of a document.
const diagnostics = (uri, version) => new Promise(resolve => {
  const check = () => {
    const p = latest.get(uri)
    if (!p || p.version !== version) return
    if (waiting.includes(check)) waiting.splice(waiting.indexOf(check), 1)
    resolve(p.diagnostics)
  }
  waiting.push(check)
  check()
})
const text = new Map() // what the editor shows, by document
const open = (name, languageId, content) => {
  text.set(at(name), content)
  connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, { textDocument: { uri: at(name), languageId, version: 1, text: content } })
  return diagnostics(at(name), 1)
}
const offset = (content, p) => content.split('\n').slice(0, p.line).reduce((n, line) => n + line.length + 1, 0) + p.character
const apply = (content, edits) => [...edits].sort((a, b) => offset(content, b.range.start) - offset(content, a.range.start)).reduce((all, e) =>
  all.slice(0, offset(content, e.range.start)) + e.newText + all.slice(offset(content, e.range.end)), content)
const change = (name, version, ...edits) => {
  for (const e of edits) text.set(at(name), apply(text.get(at(name)), [{ range: e.range, newText: e.text }]))
  connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, { textDocument: { uri: at(name), version }, contentChanges: edits })
}
const insert = (line, character, added) => ({ range: { start: { line, character }, end: { line, character } }, text: added })
const actions = (name, range, only) => connection.sendRequest(lsp.CodeActionRequest.type, { textDocument: { uri: at(name) }, range, context: { diagnostics: [], only } })
const codes = list => list.map(d => d.code).join(' ')

async function main () {
  const answer = await connection.sendRequest(lsp.InitializeRequest.type, {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
    workspaceFolders: [{ uri: at('one'), name: 'one' }, { uri: at('two'), name: 'two' }]
  })
  assert.strictEqual(answer.serverInfo.name, 'ktx')
  assert.strictEqual(answer.capabilities.textDocumentSync.change, lsp.TextDocumentSyncKind.Incremental)
  for (const none of ['documentFormattingProvider', 'documentRangeFormattingProvider', 'documentOnTypeFormattingProvider']) assert.strictEqual(answer.capabilities[none], undefined)
  await connection.sendNotification(lsp.InitializedNotification.type, {})

  // A dialect of each folder's own.
  const limit = 'SELECT id FROM orders LIMIT 5, 10;\n'
  assert.strictEqual(codes(await open('one/q.sql', 'sql', limit)), 'parse_error')
  assert.strictEqual(codes(await open('two/q.sql', 'sql', limit)), '')

  // Hover and the rewrite, which ends the finding.
  let list = await diagnostics(at('one/q.sql'), 1)
  const hover = await connection.sendRequest(lsp.HoverRequest.type, { textDocument: { uri: at('one/q.sql') }, position: list[0].range.start })
  assert.ok(hover.contents.value.startsWith('# parse_error'))
  let all = await actions('one/q.sql', list[0].range)
  let edits = all.find(a => a.isPreferred).edit.changes[at('one/q.sql')]
  assert.strictEqual(apply(limit, edits), 'SELECT id FROM orders LIMIT 10 OFFSET 5;\n')
  assert.deepStrictEqual((await actions('one/q.sql', list[0].range, ['source'])).map(a => a.kind), ['source.fixAll.ktx'])
  change('one/q.sql', 2, ...edits.map(e => ({ range: e.range, text: e.newText })))
  assert.strictEqual(codes(await diagnostics(at('one/q.sql'), 2)), '')

  // Typing, in edits of a letter behind characters of two and of four bytes.
  await open('one/typed.sql', 'sql', "SELECT '\u{1F600}漢é';\n")
  let version = 1
  for (const [i, letter] of [...'DROP TABLE \u{1F600};'].entries()) {
    const line = text.get(at('one/typed.sql')).split('\n')[1]
    change('one/typed.sql', ++version, insert(1, line.length, letter))
    assert.ok(i < 20)
  }
  change('one/typed.sql', ++version, { range: { start: { line: 1, character: 11 }, end: { line: 1, character: 13 } }, text: 't' })
  assert.strictEqual(text.get(at('one/typed.sql')), "SELECT '\u{1F600}漢é';\nDROP TABLE t;")
  list = await diagnostics(at('one/typed.sql'), version)
  assert.strictEqual(codes(list), 'ddl_statement')
  assert.strictEqual(list[0].range.start.line, 1)
  await open('one/wide.sql', 'sql', "SELECT '\u{1F600}漢', pg_read_file('x');\r\n")
  list = await diagnostics(at('one/wide.sql'), 1)
  assert.strictEqual(list[0].range.start.character, 14)

  // Permissions: on a line of its own, beside another statement, with CR LF. With
  // its reason each ends the finding.
  for (const [name, content] of [['p1.sql', '\tDROP TABLE t;\r\n'], ['p2.sql', 'SELECT 1; DROP TABLE t;\n']]) {
    list = await open('one/' + name, 'sql', content)
    assert.strictEqual(codes(list), 'ddl_statement', name)
    edits = (await actions('one/' + name, list[0].range)).find(a => a.title.includes('permit')).edit.changes[at('one/' + name)]
    change('one/' + name, 2, ...edits.map(e => ({ range: e.range, text: e.newText.replace('reason=""', 'reason="ticket 1"') })))
    assert.strictEqual(codes(await diagnostics(at('one/' + name), 2)), '', name)
    if (content.includes('\r')) assert.ok(!/[^\r]\n/.test(text.get(at('one/' + name))), name)
  }

  // Source code, with severities and the profile of migrations by path.
  for (const [name, language, content] of [
    ['a.go', 'go', 'package a\n\nfunc f() { db.Exec("DROP TABLE \u{1F600}漢t") }\n'],
    ['a.py', 'python', 'def f():\n    cursor.execute("DROP TABLE t")\n'],
    ['a.ts', 'typescript', 'async function f() { await client.query(`DROP TABLE t`) }\n']
  ]) {
    list = await open('one/' + name, language, content)
    assert.strictEqual(codes(list), 'ddl_statement', name)
    assert.strictEqual(list[0].severity, lsp.DiagnosticSeverity.Error, name)
  }
  list = await open('one/old/a.sql', 'sql', 'DROP TABLE t;\n')
  assert.strictEqual(list[0].severity, lsp.DiagnosticSeverity.Warning)
  list = await open('one/migrations/1.sql', 'sql', 'CREATE INDEX i ON orders (id);\n')
  assert.ok(codes(list).includes('migration_index_blocks_writes'), codes(list))

  // ktx.yaml changes: what is open is checked again when it is saved.
  write('two/ktx.yaml', settings('postgres'))
  const again = new Promise(resolve => waiting.push(function check () {
    if (codes(latest.get(at('two/q.sql')).diagnostics) !== 'parse_error') return
    waiting.splice(waiting.indexOf(check), 1)
    resolve()
  }))
  await connection.sendNotification(lsp.DidSaveTextDocumentNotification.type, { textDocument: { uri: at('two/ktx.yaml') } })
  await again

  // A large file: twenty changes at once, and only the last one counts.
  await open('one/large.sql', 'sql', 'SELECT id, total FROM orders WHERE id = 1;\n'.repeat(20000))
  for (let n = 2; n < 22; n++) change('one/large.sql', n, insert(0, 0, n === 21 ? 'DROP TABLE t; ' : ' '))
  assert.strictEqual(codes(await diagnostics(at('one/large.sql'), 21)), 'ddl_statement')

  // What is closed has no diagnostics, and what is asked of it has no answer.
  await connection.sendNotification(lsp.DidCloseTextDocumentNotification.type, { textDocument: { uri: at('one/large.sql') } })
  assert.deepStrictEqual(await diagnostics(at('one/large.sql'), undefined), [])
  assert.strictEqual(await connection.sendRequest(lsp.HoverRequest.type, { textDocument: { uri: at('one/large.sql') }, position: { line: 0, character: 1 } }), null)
  await assert.rejects(connection.sendRequest(lsp.DocumentFormattingRequest.type, { textDocument: { uri: at('one/q.sql') }, options: { tabSize: 2, insertSpaces: true } }))

  await connection.sendRequest(lsp.ShutdownRequest.type)
  await connection.sendNotification(lsp.ExitNotification.type)
  assert.strictEqual(await ended, 0)
  console.log('the protocol library of Visual Studio Code: as expected')
}
main().catch(e => { console.error(e); server.kill(); process.exit(1) })
