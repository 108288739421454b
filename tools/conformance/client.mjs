// Asks an MCP server with one of the TypeScript SDKs: lists its tools, makes
// calls, and prints what came, as JSON.
//
//   node client.mjs '{"sdk": "v1", "url": "http://…", "headers": {…}, "calls": [{"connectionId": "a", "sql": "SELECT 1"}]}'
//
// For sdk v2, mode says how the version of the protocol is settled (legacy, auto
// or {"pin": VERSION}). command, in place of url, is a server over standard input
// and output.

const { sdk, mode, url, headers, command, calls } = JSON.parse(process.argv[2]);

const v1 = async () => ({
  ...(await import('@modelcontextprotocol/sdk/client/index.js')),
  ...(await import('@modelcontextprotocol/sdk/client/streamableHttp.js')),
  ...(await import('@modelcontextprotocol/sdk/client/stdio.js')),
});
const v2 = async () => ({
  ...(await import('@modelcontextprotocol/client')),
  ...(await import('@modelcontextprotocol/client/stdio')),
});
const { Client, StreamableHTTPClientTransport, StdioClientTransport } = await { v1, v2 }[sdk]();

const client = new Client({ name: 'conformance', version: '1.0.0' }, mode ? { versionNegotiation: { mode } } : {});
let protocol;
if (sdk === 'v1') {
  const transport = connection();
  // v1 tells the version to its transport alone, where that wants to know it.
  const told = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    protocol = version;
    told?.(version);
  };
  await client.connect(transport);
} else {
  await client.connect(connection());
  protocol = client.getNegotiatedProtocolVersion();
}
const { tools } = await client.listTools();
const answers = [];
const progress = []; // the messages of each call
for (const call of calls) {
  const messages = [];
  const params = { name: 'sql_execution', arguments: call };
  const options = { onprogress: (notification) => messages.push(notification.message) };
  answers.push(await (sdk === 'v1' ? client.callTool(params, undefined, options) : client.callTool(params, options)));
  progress.push(messages);
}
await client.close();
console.log(JSON.stringify({ protocol, tools: tools.map((tool) => tool.name), answers, progress }));

function connection() {
  if (command) {
    return new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: 'inherit' });
  }
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
}
