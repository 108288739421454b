#!/usr/bin/env python3
"""Collects statements of others for KTX_CLICKHOUSE_HELD, KTX_DUCKDB_HELD and KTX_BIGQUERY_HELD.

    statements.py OUT [EXAMPLES]

It reads clones (bare ones too) named sqlglot, sqlfluff, ClickBench, ibis and googlesql in the
current folder, at HEAD, and writes OUT/DIALECT.jsonl. EXAMPLES is a folder with the examples
of the engines' own lists of functions:

    clickhouse.jsonl   SELECT name, examples FROM system.functions FORMAT JSONCompactEachRow
    duckdb.txt         SELECT DISTINCT unnest(examples) FROM duckdb_functions(), a line each
"""
import ast
import json
import os
import re
import subprocess
import sys

END = r";\s*(?:\n|$)"


def git(repo, *args):
    return subprocess.run(["git", "-C", repo, *args], capture_output=True, text=True, check=True).stdout


def files(repo, pattern):
    return [p for p in git(repo, "ls-tree", "-r", "HEAD", "--name-only").split("\n") if re.search(pattern, p)]


def show(repo, path):
    return git(repo, "show", "HEAD:" + path)


def text(node):
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    return value if isinstance(value, str) else None


def sqlglot(dialect):
    for path in files("sqlglot", r"^tests/dialects/test_.*\.py$"):
        own = path.endswith("test_%s.py" % dialect)
        for n in ast.walk(ast.parse(show("sqlglot", path))):
            if not isinstance(n, ast.Call) or not isinstance(n.func, ast.Attribute) or n.func.attr not in ("validate_identity", "validate_all"):
                continue
            if own:
                for arg in n.args[: 2 if n.func.attr == "validate_identity" else 1]:
                    yield "sqlglot", text(arg)
            elif n.func.attr == "validate_identity":
                continue
            for keyword in n.keywords:
                if keyword.arg in ("read", "write") and isinstance(keyword.value, ast.Dict):
                    for key, value in zip(keyword.value.keys, keyword.value.values):
                        if key is not None and text(key) == dialect:
                            yield "sqlglot" if own else "sqlglot-other", text(value)


def examples(dialect, folder):
    if dialect == "bigquery":
        for path in files("googlesql", r"^docs/.*\.md$"):
            for block in re.findall(r"```(?:googlesql|zetasql|sql)[^\n]*\n(.*?)```", show("googlesql", path), re.S):
                for sql in re.split(END, re.sub(r"/\*[-+].*?\*/", "", block, flags=re.S)):
                    if re.match(r"\s*(--[^\n]*\n\s*)*(SELECT|WITH|FROM)\b", sql, re.I):
                        yield sql
    elif folder and dialect == "clickhouse":
        for line in open(os.path.join(folder, "clickhouse.jsonl"), encoding="utf-8"):
            for block in re.findall(r"```sql[^\n]*\n(.*?)```", json.loads(line)[1], re.S):
                yield from re.split(END, block)
    elif folder and dialect == "duckdb":
        for line in open(os.path.join(folder, "duckdb.txt"), encoding="utf-8"):
            yield "SELECT " + line.strip()


def collect(dialect, folder):
    yield from sqlglot(dialect)
    for path in files("sqlfluff", r"^test/fixtures/dialects/%s/.*\.sql$" % dialect):
        for sql in re.split(END, show("sqlfluff", path)):
            yield "sqlfluff", sql
    for sql in show("ClickBench", dialect + "/queries.sql").split("\n"):
        yield "clickbench", sql
    repo, pattern = ("sqlglot", r"^tests/fixtures/optimizer/tpc-(ds|h)/tpc-.*\.sql$") if dialect == "bigquery" else ("ibis", r"tpc/queries/%s/(ds|h)/.*\.sql$" % dialect)
    for path in files(repo, pattern):
        for sql in re.split(END, show(repo, path)):
            yield "tpc", sql
    for sql in examples(dialect, folder):
        yield "docs", sql


def main():
    out, folder = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    for dialect in ("clickhouse", "duckdb", "bigquery"):
        seen = set()
        with open(os.path.join(out, dialect + ".jsonl"), "w", encoding="utf-8") as f:
            for source, sql in collect(dialect, folder):
                sql = (sql or "").strip().rstrip(";").strip()
                if sql and sql not in seen:
                    seen.add(sql)
                    f.write(json.dumps({"source": source, "sql": sql}) + "\n")
        print(dialect, len(seen))


main()
