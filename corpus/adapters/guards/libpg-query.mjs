// PostgreSQL's own parser, and a walk over its tree as many guards have it: one
// statement, which is a SELECT or an EXPLAIN of one, without writes, INTO and locks
// at any depth.
import { loadModule, parseSync } from "libpg-query";
import { serve } from "./guard.mjs";

const writes = new Set(["InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt", "IntoClause", "intoClause", "lockingClause", "LockingClause"]);

function walk(node) {
  if (node === null || typeof node !== "object") return;
  for (const [name, child] of Object.entries(node)) {
    if (writes.has(name)) throw new Error(name);
    walk(child);
  }
}

await loadModule();
await serve("libpg-query", (_, sql) => {
  const { stmts = [] } = parseSync(sql);
  if (stmts.length !== 1) throw new Error(stmts.length + " statements");
  let { stmt } = stmts[0];
  if (stmt.ExplainStmt) stmt = stmt.ExplainStmt.query;
  if (!stmt.SelectStmt) throw new Error(Object.keys(stmt)[0]);
  walk(stmt);
});
