// node-sql-parser with its own list of what may be done: every read, nothing else.
import parser from "node-sql-parser";
import { serve } from "./guard.mjs";

const databases = { mysql: "MySQL", postgres: "PostgreSQL", sqlite: "Sqlite", sqlserver: "TransactSQL" };
const reader = new parser.Parser();

await serve("node-sql-parser", (dialect, sql) => {
  reader.whiteListCheck(sql, ["select::(.*)::(.*)"], { database: databases[dialect], type: "table" });
});
