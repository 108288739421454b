// Checks the description of a server's REST API with a validator, and calls the server
// through a client that is generated from it. Arguments: the address of the server and
// a token.
import { Validator } from "@seriousme/openapi-schema-validator";
import SwaggerClient from "swagger-client";

const [origin, token] = process.argv.slice(2);
const fail = (message) => {
  console.error(message);
  process.exit(1);
};
const headers = { authorization: `Bearer ${token}` };
const spec = await (await fetch(`${origin}/v1/openapi.json`, { headers })).json();
const valid = await new Validator().validate(spec);
if (!valid.valid) fail(`not valid: ${JSON.stringify(valid.errors)}`);

const client = await new SwaggerClient({
  spec: { ...spec, servers: [{ url: origin }] },
  requestInterceptor: (r) => Object.assign(r, { headers: { ...r.headers, ...headers } }),
});
if (client.errors?.length) fail(`not resolved: ${client.errors}`);
const operations = Object.values(client.apis).flatMap((tag) => Object.keys(tag));
const described = Object.values(spec.paths).flatMap((path) => Object.values(path)).length;
if (operations.length !== described) fail(`${operations.length} operations of ${described}`);

const rows = await client.apis.tools.sql_execution({}, { requestBody: { connectionId: "demo", sql: "SELECT count(*) AS n FROM orders" } });
if (rows.body.rows[0][0] !== 900) fail(`sql_execution: ${rows.text}`);
const refused = await client.apis.tools.sql_execution({}, { requestBody: { connectionId: "demo", sql: "DROP TABLE orders" } }).catch((error) => error);
if (refused.status !== 422 || refused.response.body.code !== "ddl_statement") fail(`a refusal: ${refused.status}`);
const list = await client.apis.audit.listStatements({ status: "refused", limit: 5 });
if (list.body.rows[0].codes[0] !== "ddl_statement") fail(`listStatements: ${list.text}`);
const verdict = await client.apis.guard.checkStatement({}, { requestBody: { dialect: "postgres", sql: "SELECT 1" } });
if (!verdict.body.allowed) fail(`checkStatement: ${verdict.text}`);
console.log(`${operations.length} operations`);
