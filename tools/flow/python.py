"""Lists the calls in the Python files below a folder that take SQL, and says what
their argument is, one JSON object a line. It reads them with Python's own ast and
shares no code with ktx, which tools/flow compares with it."""

import ast
import json
import os
import sys

# Functions of DB-API drivers, SQLAlchemy, asyncpg, pandas, Django, Spark and DuckDB.
SURE = {"executemany", "executescript", "execute_async", "mogrify", "copy_expert", "exec_driver_sql",
        "read_sql", "read_sql_query", "RawSQL", "fetchrow", "fetchval", "query_df"}
USUAL = {"execute", "raw", "sql", "query", "text"}
KEYWORDS = {"sql", "query", "statement", "operation"}
FIRST_WORDS = {"select", "with", "insert", "update", "delete", "merge", "replace", "create", "alter", "drop",
               "truncate", "grant", "revoke", "explain", "show", "values", "set", "begin", "commit", "rollback",
               "lock", "copy", "vacuum", "analyze", "pragma", "attach", "declare", "detach", "savepoint", "release",
               "reindex", "call"}
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module, ast.ClassDef)


class Scope:
    def __init__(self, node, outer):
        self.outer = outer
        self.values = {}  # lists of (value, appended), by name
        self.passed = set()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            a = node.args
            for arg in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]:
                if arg:
                    self.add(arg.arg, None)

    def add(self, name, value, appended=False):
        self.values.setdefault(name, []).append((value, appended))

    def find(self, name):
        scope = self
        while scope:
            if name in scope.passed:
                scope = scope.outer
                continue
            if name in scope.values:
                return scope
            scope = scope.outer
        return None


def targets(scope, target, value):
    if isinstance(target, ast.Name):
        scope.add(target.id, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for i, part in enumerate(target.elts):
            same = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
            targets(scope, part, value.elts[i] if same else None)
    elif isinstance(target, ast.Starred):
        targets(scope, target.value, None)


def collect(node, scope, scopes):
    """Collects what is assigned in each scope."""
    for child in ast.iter_child_nodes(node):
        inner = scope
        if isinstance(child, SCOPES):
            inner = scopes[child] = Scope(child, scope)
            if not isinstance(child, ast.Lambda):
                scope.add(child.name, None)
        elif isinstance(child, ast.Assign):
            for target in child.targets:
                targets(scope, target, child.value)
        elif isinstance(child, (ast.AnnAssign, ast.NamedExpr)):
            if child.value:
                targets(scope, child.target, child.value)
        elif isinstance(child, ast.AugAssign):
            if isinstance(child.target, ast.Name):
                scope.add(child.target.id, child.value, True)
        elif isinstance(child, (ast.For, ast.AsyncFor, ast.comprehension)):
            targets(scope, child.target, None)
        elif isinstance(child, (ast.With, ast.AsyncWith)):
            for item in child.items:
                if item.optional_vars:
                    targets(scope, item.optional_vars, None)
        elif isinstance(child, (ast.Import, ast.ImportFrom)):
            for name in child.names:
                scope.add((name.asname or name.name).split(".")[0], None)
        elif isinstance(child, (ast.Global, ast.Nonlocal)):
            scope.passed.update(child.names)
        elif isinstance(child, ast.ExceptHandler) and child.name:
            scope.add(child.name, None)
        collect(child, inner, scopes)


def kind_of(e, scope, busy=()):
    """Returns what an expression is, and its text if that is known.

    literal: literals only; constant: a name of the module that is assigned once;
    once: a local name that is assigned once; built: made of several parts, of which
    one is known; elsewhere: parameters, fields, results of functions."""
    if isinstance(e, ast.Constant) and isinstance(e.value, str):
        return "literal", e.value
    if isinstance(e, ast.JoinedStr):
        if all(isinstance(v, ast.Constant) for v in e.values):
            return "literal", "".join(v.value for v in e.values)
        known = any(isinstance(v, ast.Constant) and v.value.strip() for v in e.values)
        return ("built" if known else "elsewhere"), None
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Add):
        left, right = kind_of(e.left, scope, busy), kind_of(e.right, scope, busy)
        if left[1] is not None and right[1] is not None:
            kinds = {left[0], right[0]}
            if kinds == {"literal"}:
                return "literal", left[1] + right[1]
            return "built", None
        return ("built" if left[1] or right[1] or "built" in (left[0], right[0]) else "elsewhere"), None
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Mod):
        kind, sql = kind_of(e.left, scope, busy)
        return ("built" if sql or kind == "built" else "elsewhere"), None
    if isinstance(e, ast.IfExp):
        kinds = [kind_of(e.body, scope, busy), kind_of(e.orelse, scope, busy)]
        return ("built" if any(sql or k == "built" for k, sql in kinds) else "elsewhere"), None
    if isinstance(e, ast.Call):
        name = last(e.func)
        if name in ("format", "format_map", "replace") and isinstance(e.func, ast.Attribute):
            kind, sql = kind_of(e.func.value, scope, busy)
            return ("built" if sql or kind == "built" else "elsewhere"), None
        if name == "join" and isinstance(e.func, ast.Attribute) and e.args:
            kind = kind_of(e.args[0], scope, busy)[0]
            return ("built" if kind == "built" else "elsewhere"), None
        if name in ("text", "dedent", "strip", "cleandoc", "SQL"):
            inner = e.args[0] if e.args else e.func.value if isinstance(e.func, ast.Attribute) else None
            if inner is not None:
                return kind_of(inner, scope, busy)
        return "elsewhere", None
    if isinstance(e, (ast.List, ast.Tuple)):
        return ("built" if any(kind_of(part, scope, busy)[1] for part in e.elts) else "elsewhere"), None
    if isinstance(e, ast.Name):
        owner = scope.find(e.id)
        if not owner or e.id in busy:
            return "elsewhere", None
        values = owner.values[e.id]
        if len(values) == 1 and values[0][0] is not None:
            kind, sql = kind_of(values[0][0], owner, (*busy, e.id))
            if sql is None:
                return kind, None
            return ("constant" if owner.outer is None else "once"), sql
        for value, _ in values:
            if value is not None:
                kind, sql = kind_of(value, owner, (*busy, e.id))
                if sql or kind == "built":
                    return "built", None
        return "elsewhere", None
    return "elsewhere", None


def last(f):
    return f.attr if isinstance(f, ast.Attribute) else f.id if isinstance(f, ast.Name) else ""


def main():
    root = sys.argv[1]
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in ("node_modules", "vendor", ".venv"))
        for name in sorted(files):
            if not name.endswith(".py"):
                continue
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                source = f.read()
            try:
                tree = ast.parse(source)
            except (SyntaxError, ValueError):
                continue
            lines = [0]
            for line in source.splitlines(keepends=True):
                lines.append(lines[-1] + len(line))
            top = Scope(tree, None)
            scopes = {}
            collect(tree, top, scopes)

            def visit(node, scope):
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.Call):
                        place(child, scope)
                    visit(child, scopes.get(child, scope))

            def place(call, scope):
                name = last(call.func)
                if name not in SURE and name not in USUAL:
                    return
                arg = call.args[0] if call.args else next(
                    (k.value for k in call.keywords if k.arg in KEYWORDS), None)
                if arg is None or isinstance(arg, ast.Starred):
                    return
                kind, sql = kind_of(arg, scope)
                if name in USUAL:  # their names mean other things too
                    words = (sql or "").split()
                    if sql is not None and (not words or words[0].lower().strip("(;") not in FIRST_WORDS or len(words) < 2):
                        return
                    if sql is None and name in ("text", "raw", "query", "sql"):
                        return
                start = lines[arg.lineno - 1] + arg.col_offset
                end = lines[arg.end_lineno - 1] + arg.end_col_offset
                print(json.dumps({"file": os.path.relpath(path, root), "start": start, "end": end,
                                  "name": name, "kind": kind, "sql": sql or ""}))

            visit(tree, top)


main()
