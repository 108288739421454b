// Reads a file with a parser of others, and prints what it makes of it as JSON:
//
//   node read.mjs junit|workflow|action FILE
import { readFileSync } from "node:fs";
import { register } from "node:module";

// The parser of workflows imports JSON as bundlers take it; node wants a type.
const hook = `export const load = (url, context, next) =>
  next(url, url.endsWith(".json") ? { ...context, importAttributes: { type: "json" } } : context);`;
register("data:text/javascript," + encodeURIComponent(hook));

const readers = {
  junit: async (content) => (await import("junit2json")).parse(content),
  workflow: async (content, name) => {
    const { NoOperationTraceWriter, parseWorkflow } = await import("@actions/workflow-parser");
    return errors(parseWorkflow({ name, content }, new NoOperationTraceWriter()));
  },
  action: async (content, name) => {
    const { NoOperationTraceWriter } = await import("@actions/workflow-parser");
    const { parseAction } = await import("@actions/workflow-parser/actions/action-parser");
    return errors(parseAction({ name, content }, new NoOperationTraceWriter()));
  },
};

function errors(result) {
  return result.context.errors.getErrors().map((e) => e.message);
}

const [, , kind, file] = process.argv;
process.stdout.write(JSON.stringify(await readers[kind](readFileSync(file, "utf8"), file)));
