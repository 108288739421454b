// Serves PostgreSQL with pgvector, as WebAssembly (PGlite), on a free port of this
// machine, and prints the port. It has one backend: it proves what statements answer,
// and nothing about statements that run at once.
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";

const db = await PGlite.create({ extensions: { vector } });
const server = new PGLiteSocketServer({ db, host: "127.0.0.1", port: 0, maxConnections: 10 });
server.addEventListener("listening", (e) => console.log(`listening on ${e.detail.port}`));
await server.start();
process.stdin.on("end", () => process.exit(0)).resume(); // the test has ended
