#!/usr/bin/env python3
"""Collects attacks of others for KTX_CLICKHOUSE_HELD, KTX_DUCKDB_HELD and KTX_BIGQUERY_HELD.

    attacks.py CLONES OUT

CLONES has git directories of the repositories below, named owner+name/repo. Each statement
goes into one of three groups:

    attack-command   its first word is none of a read (READ)
    attack-reach     a read with a word of the manual (REACH) for files, addresses, other servers,
                     models, settings, secrets, waiting, or the server's own state
    attack-injection a payload of a collection of SQL injection, put where a number or a text
                     of a query stands

Repeated texts are left out. Of each file at most FILE of a group are taken, and of each group
as many as SAMPLE says, in the order of their hashes; of these every second one is the first
half: OUT/DIALECT-1.jsonl and OUT/DIALECT-2.jsonl.
"""
import hashlib
import html
import json
import os
import re
import subprocess
import sys

FILE = 5
SAMPLE = {"attack-command": 1000, "attack-reach": 600, "attack-injection": 600}
READ = set("SELECT WITH FROM EXPLAIN SHOW DESCRIBE DESC EXISTS VALUES TABLE SUMMARIZE PIVOT UNPIVOT".split())
END = r";[ \t]*(?:--[^\n]*)?(?:\n|$)"
REACH = {
    "clickhouse": r"\b(url|file|s3|gcs|hdfs|azureBlobStorage|remote|remoteSecure|cluster|clusterAllReplicas|mysql|postgresql|sqlite|mongo|mongodb|redis|odbc|jdbc|executable"
    r"|input|dictionary|dictGet\w*|dictHas|merge|loop|iceberg\w*|deltaLake\w*|hudi\w*|paimon\w*|ytsaurus|arrowFlight|urlCluster|fileCluster|s3Cluster|sleep|sleepEachRow|joinGet\w*"
    r"|catboostEvaluate|modelEvaluate|addressToLine\w*|addressToSymbol|demangle|filesystem\w+|getServerPort|getMacro|serverUUID|hostName|mergeTreeIndex|mergeTreeProjection|viewExplain"
    r"|lowCardinalityIndices|aes_decrypt_mysql|decrypt|encrypt|throwIf|generateSerialID|zookeeper\w*|getSetting\w*|currentProfiles|enabledRoles|getClientHTTPHeader|evalMLMethod|nothing|aiGenerate\w*|aiEmbed\w*)\s*\("
    r"|\bINTO\s+OUTFILE\b|\bSETTINGS\b|\bFORMAT\s+\w+\s*$|\bsystem\.\w+",
    "duckdb": r"\b(read_\w+|\w+_scan|parquet_\w+|sniff_csv|glob|query|query_table|getenv|getvariable|nextval|currval|setseed|\w*secret\w*|load_\w+|write_log|parse_log\w*|enable_\w+|force_checkpoint|checkpoint"
    r"|pragma_\w+|duckdb_\w+|json_execute_serialized_sql|from_substrait\w*|get_substrait\w*|sqlite_\w+|postgres_\w+|mysql_\w+|iceberg_\w+|delta_\w+|http_\w+|current_setting|sleep\w*|seq_scan|summary|test_\w+|repeat_row|arrow_\w+|pandas_\w+|python_\w+|sql_auto_complete|add_parquet_key|dsdgen|dbgen|txid_current|error|stats|write_\w+)\s*\("
    r"|\b(?:FROM|JOIN)\s+'|\bINTO\b|\bAT\s*\(",
    "bigquery": r"\b(EXTERNAL_QUERY|ML\s*\.\s*\w+|AI\s*\.\s*\w+|KEYS\s*\.\s*\w+|AEAD\s*\.\s*\w+|DETERMINISTIC_\w+|APPENDS|CHANGES|VECTOR_SEARCH|SEARCH|SESSION_USER|ERROR|OBJ\s*\.\s*\w+|SLEEP|NET\s*\.\s*\w+|GAP_FILL|RANGE_SESSIONIZE|ST_REGIONSTATS|CONTENT_\w+)\s*\("
    r"|@@|\bINFORMATION_SCHEMA\b|\bFOR\s+SYSTEM_TIME\b|\bCALL\b|\bINTO\b|__TABLES__|\|>\s*(?:INSERT|EXPORT|CREATE|FORK|TEE|IF)\b",
}


def git(repo, *args):
    return subprocess.run(["git", "-C", repo, *args], capture_output=True, check=True).stdout.decode("utf-8", "replace")


class Clones:
    def __init__(self, root):
        self.root = root

    def files(self, name, pattern):
        """Yields the path and the text of each file of a repository."""
        repo = os.path.join(self.root, name.replace("/", "+"), "repo")
        paths = [p for p in git(repo, "-c", "core.quotePath=off", "ls-tree", "-r", "HEAD", "--name-only").split("\n") if re.search(pattern, p)]
        batch = subprocess.Popen(["git", "-C", repo, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for path in paths:
            batch.stdin.write(("HEAD:" + path + "\n").encode())
            batch.stdin.flush()
            head = batch.stdout.readline().split()
            if head[-1] == b"missing":
                continue
            data = batch.stdout.read(int(head[2]) + 1)
            yield name + "/" + path, data.decode("utf-8", "replace")
        batch.stdin.close()
        batch.wait()


def blocks(text):
    return re.findall(r"```(?:sql|googlesql|bigquery|plpgsql|)[ \t]*[^\n]*\n(.*?)```", text, re.S)


def statements(clones, dialect):
    if dialect == "clickhouse":
        for name, pattern in (("sqlc-dev/doubleclick", r"^parser/testdata/[^/]*/query\.sql$"), ("timeplus-io/proton", r"^tests/queries[^/]*/.*\.sql$"),
                              ("ByConity/ByConity", r"^tests/queries/.*\.sql$"), ("sqlmapproject/sqlmap", r"^data/procs/clickhouse/.*\.sql$")):
            for path, text in clones.files(name, pattern):
                for sql in re.split(END, text):
                    yield path, sql
    elif dialect == "duckdb":
        for path, text in clones.files("duckdb/duckdb", r"^test/.*\.test(_slow|_coverage)?$"):
            for sql in re.findall(r"^(?:statement|query)[^\n]*\n(.*?)(?:\n----|\n[ \t]*\n|\Z)", text, re.S | re.M):
                yield path, sql
        for name in ("Assassinxc/duckdb-web-chinese", "PrathamGitHub/duckdb-docs"):
            for path, text in clones.files(name, r"\.md$"):
                for block in blocks(text):
                    for sql in re.split(END, block):
                        yield path, sql
    else:
        for path, text in clones.files("google/googlesql", r"^googlesql/(parser|analyzer|compliance)/testdata/.*\.test$"):
            for case in re.split(r"^==[ \t]*$", text, flags=re.M):
                sql = re.split(r"^--[ \t]*$", case, flags=re.M)[0]
                yield path, re.sub(r"^(#[^\n]*|\[[^\n]*\])$", "", sql, flags=re.M)
        for path, text in clones.files("apstndb/bigquery-docs-mirror", r"\.md$"):
            for block in blocks(text):
                for sql in re.split(END, block):
                    yield path, sql
        for name in ("mozilla/bigquery-etl", "GoogleCloudPlatform/bigquery-utils"):
            for path, text in clones.files(name, r"\.sql$"):
                yield path, text  # scripts stay whole


def payloads(clones):
    for path, text in clones.files("swisskyrepo/PayloadsAllTheThings", r"^SQL Injection/"):
        if path.endswith(".md"):
            for block in blocks(text):
                for line in block.split("\n"):
                    yield path, line
        elif not path.endswith((".png", ".jpg")):
            for line in text.split("\n"):
                yield path, line
    for path, text in clones.files("sqlmapproject/sqlmap", r"^data/xml/(payloads/.*|queries)\.xml$"):
        for value in re.findall(r"<(?:payload|vector|comment)>(.*?)</", text, re.S) + re.findall(r'query\d?="(.*?)"', text):
            value = html.unescape(value)
            value = re.sub(r"\[(?:RANDNUM|SLEEPTIME|DELAYED)\d?\]", "5", value)
            yield path, re.sub(r"\[(?:\w+)\]|%[sd]", "1", value)


def bare(sql):
    """Returns a text without what stands in comments and quotes, and with its quotes."""
    return re.sub(r"--[^\n]*|/\*.*?\*/|'(?:[^'\\]|\\.|'')*'", lambda m: "''" if m.group().startswith("'") else " ", sql, flags=re.S)


def group(sql, dialect):
    text = bare(sql).strip()
    word = re.match(r"\(*\s*([A-Za-z_]*)", text).group(1).upper()
    if word and word not in READ:
        return "attack-command"
    return "attack-reach" if re.search(REACH[dialect], text, re.I) else None


def main():
    clones, out = Clones(sys.argv[1]), sys.argv[2]
    injected = list(payloads(clones))
    for dialect in SAMPLE_DIALECTS:
        found, seen, per = {}, set(), {}

        def put(kind, path, sql):
            sql = sql.strip().rstrip(";").strip()
            if not sql or sql in seen or len(sql) > 60000 or "\0" in sql or "\ufffd" in sql:
                return
            seen.add(sql)
            digest = hashlib.sha256(sql.encode("utf-8", "surrogatepass")).hexdigest()
            found.setdefault(kind, []).append((digest, path, sql))

        for path, sql in statements(clones, dialect):
            kind = group(sql, dialect)
            if kind:
                put(kind, path, sql)
        for path, value in injected:
            if value.strip():
                put("attack-injection", path + "#n", "SELECT name FROM users WHERE id = " + value)
                put("attack-injection", path + "#s", "SELECT name FROM users WHERE name = '" + value + "' LIMIT 10")
        halves = [open(os.path.join(out, "%s-%d.jsonl" % (dialect, n)), "w", encoding="utf-8") for n in (1, 2)]
        for kind, rows in sorted(found.items()):
            taken = 0
            for _, path, sql in sorted(rows):
                limit = FILE if kind != "attack-injection" else 60
                if per.get((kind, path), 0) >= limit or taken >= SAMPLE[kind]:
                    continue
                per[(kind, path)] = per.get((kind, path), 0) + 1
                halves[taken % 2].write(json.dumps({"source": kind, "sql": sql}) + "\n")
                taken += 1
            print(dialect, kind, len(rows), "found,", taken, "taken")
        for f in halves:
            f.close()


SAMPLE_DIALECTS = ("clickhouse", "duckdb", "bigquery")
main()
