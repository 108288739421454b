// Lists the calls in the TypeScript and JavaScript files below a folder that take
// SQL, and says what their argument is, one JSON object a line. It reads them with
// TypeScript's own parser and binder and shares no code with ktx, which tools/flow
// compares with it.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const ts = createRequire(path.join(process.argv[3], 'package.json'))('typescript');
const root = process.argv[2];

// Functions that the project says take SQL, and those of node-postgres, mysql2, better-sqlite3, Knex, Sequelize, TypeORM,
// Prisma and postgres.js.
const sure = new Set([...process.argv.slice(4), '$queryRawUnsafe', '$executeRawUnsafe', 'queryRaw', 'executeSql', 'manyOrNone', 'oneOrNone']);
const usual = new Set(['query', 'execute', 'raw', 'unsafe', 'prepare', 'exec', 'run', 'all', 'get']);
const tags = new Set(['$queryRaw', '$executeRaw', 'sql', 'SQL']);
const firstWord = /^\s*(?:--[^\n]*\n\s*)*\(*(?:select|with|insert|update|delete|merge|create|alter|drop|truncate|grant|revoke|explain|pragma|vacuum|copy|lock|set|comment|call|refresh)\s+\S/i;

const files = [];
(function walk(folder) {
  for (const e of fs.readdirSync(folder, { withFileTypes: true })) {
    const name = path.join(folder, e.name);
    if (e.isDirectory()) {
      if (e.name !== 'node_modules' && e.name !== 'vendor') walk(name);
    } else if (/\.(?:[mc]?[jt]s|[jt]sx)$/.test(e.name)) {
      files.push(name);
    }
  }
})(root);
files.sort();

const program = ts.createProgram(files, { allowJs: true, noLib: true, noResolve: true, jsx: ts.JsxEmit.Preserve, types: [], maxNodeModuleJsDepth: 0 });
const checker = program.getTypeChecker();

// assignments are the values of each symbol; undefined is a value that is no
// expression.
const assignments = new Map();
const added = (name, value) => {
  const symbol = checker.getSymbolAtLocation(name);
  if (!symbol) return;
  if (!assignments.has(symbol)) assignments.set(symbol, []);
  assignments.get(symbol).push(value);
};
const bind = (name, value) => {
  if (ts.isIdentifier(name)) added(name, value);
  else if (name.elements) for (const e of name.elements) if (e.name) bind(e.name, undefined);
};
const collect = node => {
  if (ts.isVariableDeclaration(node)) {
    const loop = ts.isForOfStatement(node.parent.parent) || ts.isForInStatement(node.parent.parent);
    if (node.initializer || loop) bind(node.name, loop ? undefined : node.initializer);
  } else if (ts.isParameter(node)) {
    bind(node.name, undefined);
  } else if (ts.isBinaryExpression(node) && ts.isIdentifier(node.left)) {
    if (node.operatorToken.kind === ts.SyntaxKind.EqualsToken || node.operatorToken.kind === ts.SyntaxKind.PlusEqualsToken) added(node.left, node.right);
  }
  ts.forEachChild(node, collect);
};

const last = e => (ts.isIdentifier(e) ? e.text : ts.isPropertyAccessExpression(e) ? e.name.text : '');
const plain = e => {
  while (ts.isParenthesizedExpression(e) || ts.isAsExpression(e) || ts.isNonNullExpression(e) || ts.isSatisfiesExpression?.(e)) e = e.expression;
  return e;
};

// literal: literals only; constant: a name of the module that is assigned once;
// once: a local name that is assigned once; built: made of several parts, of which
// one is known; elsewhere: parameters, fields, results of functions.
const kinds = new Map(); // of names
let depth = 0;
function kindOf(e, busy = new Set()) {
  if (depth > 100) return ['elsewhere'];
  depth++;
  try {
    return evaluated(plain(e), busy);
  } finally {
    depth--;
  }
}

function evaluated(e, busy) {
  if (ts.isStringLiteralLike(e)) return ['literal', e.text];
  const parts = list => (list.some(p => { const [k, s] = kindOf(p, busy); return k === 'built' || (s ?? '').trim(); }) ? ['built'] : ['elsewhere']);
  if (ts.isTemplateExpression(e)) return e.head.text.trim() || e.templateSpans.some(s => s.literal.text.trim()) ? ['built'] : parts(e.templateSpans.map(s => s.expression));
  if (ts.isTaggedTemplateExpression(e)) return ['template'];
  if (ts.isBinaryExpression(e) && e.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [kindOf(e.left, busy), kindOf(e.right, busy)];
    if (left[0] === 'literal' && right[0] === 'literal') return ['literal', left[1] + right[1]];
    return parts([e.left, e.right]);
  }
  if (ts.isConditionalExpression(e)) return parts([e.whenTrue, e.whenFalse]);
  if (ts.isArrayLiteralExpression(e)) return parts([...e.elements]);
  if (ts.isCallExpression(e) && ts.isPropertyAccessExpression(e.expression)) {
    if (e.expression.name.text === 'trim') return kindOf(e.expression.expression, busy);
    if (['join', 'replace', 'replaceAll', 'concat'].includes(e.expression.name.text)) return parts([e.expression.expression]);
  }
  if (ts.isIdentifier(e)) {
    const symbol = checker.getSymbolAtLocation(e);
    const values = assignments.get(symbol) ?? [];
    if (!symbol || busy.has(symbol) || values.length > 50) return ['elsewhere'];
    if (kinds.has(symbol)) return kinds.get(symbol);
    const inner = new Set(busy).add(symbol);
    const result = named(symbol, values, inner);
    kinds.set(symbol, result);
    return result;
  }
  return ['elsewhere'];
}

function named(symbol, values, busy) {
  if (values.length === 1 && values[0]) {
    const [kind, sql] = kindOf(values[0], busy);
    if (sql === undefined) return [kind];
    const declaration = symbol.valueDeclaration;
    return [declaration && ts.isSourceFile(declaration.parent?.parent?.parent ?? declaration) ? 'constant' : 'once', sql];
  }
  return values.some(v => { const [k, s] = v ? kindOf(v, busy) : ['elsewhere']; return k === 'built' || (s ?? '').trim(); }) ? ['built'] : ['elsewhere'];
}

// mentions reports whether a part of an expression that is built up is SQL.
function mentions(e, seen = new Set()) {
  let found = false;
  (function visit(n) {
    if (found || seen.size > 20) return;
    if ((ts.isStringLiteralLike(n) || ts.isTemplateHead(n)) && firstWord.test(n.text + ' x')) found = true;
    const symbol = ts.isIdentifier(n) && checker.getSymbolAtLocation(n);
    if (symbol && !seen.has(symbol)) {
      seen.add(symbol);
      for (const v of assignments.get(symbol) ?? []) if (v && mentions(v, seen)) found = true;
    }
    ts.forEachChild(n, visit);
  })(e);
  return found;
}

for (const name of files) {
  const source = program.getSourceFile(name);
  if (source) collect(source);
}
for (const name of files) {
  const source = program.getSourceFile(name);
  if (!source) continue;
  const text = source.text;
  const mark = fs.readFileSync(name).subarray(0, 3).equals(Buffer.from('\ufeff')) ? 3 : 0; // TypeScript drops it
  const bytes = at => mark + Buffer.byteLength(text.slice(0, at));
  const put = (e, called, kind, sql) => console.log(JSON.stringify({ file: path.relative(root, name), start: bytes(e.getStart(source)), end: bytes(e.end), name: called, kind, sql: sql ?? '' }));
  (function visit(node) {
    if (ts.isTaggedTemplateExpression(node) && tags.has(last(node.tag))) {
      const t = node.template;
      const known = ts.isTemplateExpression(t) ? t.head.text + t.templateSpans.map(s => s.literal.text).join('') : t.text;
      const certain = last(node.tag).startsWith('$');
      if (firstWord.test(known) || certain) put(node, last(node.tag), ts.isTemplateExpression(t) ? 'built' : 'literal', ts.isTemplateExpression(t) ? '' : t.text);
    } else if (ts.isCallExpression(node) && node.arguments.length > 0) {
      const called = last(node.expression);
      let arg = plain(node.arguments[0]);
      if (sure.has(called) || usual.has(called)) {
        if (ts.isObjectLiteralExpression(arg)) {
          const field = arg.properties.find(p => ts.isPropertyAssignment(p) && ['text', 'sql', 'query'].includes(p.name.getText(source)));
          arg = field ? plain(field.initializer) : undefined;
        }
        if (arg) {
          const [kind, sql] = kindOf(arg);
          if (kind !== 'template' && (sure.has(called) || (sql !== undefined ? firstWord.test(sql) : kind === 'built' && mentions(arg)))) put(arg, called, kind, sql);
        }
      }
    }
    ts.forEachChild(node, visit);
  })(source);
}
