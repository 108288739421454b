// The protocol of corpus/GUARD.md for a function judge(dialect, sql), which returns
// nothing for a statement that may run, and throws for one that may not.
import { createInterface } from "node:readline";

export async function serve(name, judge) {
  const answer = (line) => process.stdout.write(JSON.stringify(line) + "\n");
  for await (const text of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const ask = JSON.parse(text);
    if (ask.proto) {
      answer({ proto: ask.proto, name });
      continue;
    }
    const sql = ask.sql ?? Buffer.from(ask.sql_b64, "base64").toString("latin1");
    try {
      await judge(ask.dialect, sql);
      answer({ id: ask.id, decision: "allow" });
    } catch (refusal) {
      answer({ id: ask.id, decision: "reject", detail: String(refusal.message ?? refusal).slice(0, 200) });
    }
  }
}
