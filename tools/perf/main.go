// Command perf runs the benchmarks behind the claims of the project and writes
// docs/evidence/performance.md. For each claim, the page has the median of several runs
// in one process, and the range. A ratio compares two ways that ran in turns
// within one process. Only ratios carry over to other machines. `make bench`
// runs perf.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// claim is one figure of the page.
type claim struct {
	bench string // as go test prints it, without the number of processors
	unit  string
	what  string
	goal  string // "" where there is none
}

// suite is one run of one package's benchmarks.
type suite struct {
	title  string
	text   string
	pkg    string
	bench  string // the pattern
	cgo    string
	time   string // how long or how often each runs, as go test has it; "" is its default
	peers  bool   // it compares with servers of others, which npm installs
	rated  bool   // Lighthouse rates pages, which npm installs
	engine bool   // it needs ClickHouse's library, which make test-engines fetches; without it, the section stays
	tags   string // build tags
	inC    bool   // with SQLite's C library (scripts/go-csqlite)
	claims []claim
}

const ratio = "×"

// latencies are the claims of a gateway whose driver runs alone beside it.
var latencies = []claim{
	{"Latency/one", "p50", "SELECT 1, p50", ""},
	{"Latency/one", "p99", "SELECT 1, p99", ""},
	{"Latency/aggregate", "p50", "an aggregate of 100,000 rows, p50", ""},
	{"Latency/aggregate", "p99", "an aggregate of 100,000 rows, p99", ""},
	{"Latency/rows", "p50", "1,000 rows, p50", ""},
	{"Latency/rows", "p99", "1,000 rows, p99", ""},
}

var suites = []suite{
	{
		title: "The guard on PostgreSQL's SQL, default build",
		text:  "The time of a complete check (lexer, screen, parser, walk, judgement, normal form), divided by the time of the parser (pg_query_go) alone.",
		pkg:   "./dialects/postgres", bench: "^BenchmarkRatio$", cgo: "1",
		claims: []claim{
			{"Ratio/small", "check/parse", "46 bytes", "≤ 1.3"},
			{"Ratio/medium", "check/parse", "255 bytes, a join", "≤ 1.3"},
			{"Ratio/large", "check/parse", "1.8 KB, of TPC-DS size", "≤ 1.3"},
		},
	},
	{
		title: "The guard on PostgreSQL's SQL, pure Go build",
		text:  "The same with oliphant. It parses several times faster, so the rest of the check has a greater share.",
		pkg:   "./dialects/postgres", bench: "^BenchmarkRatio$", cgo: "0",
		claims: []claim{
			{"Ratio/small", "check/parse", "46 bytes", ""},
			{"Ratio/medium", "check/parse", "255 bytes, a join", ""},
			{"Ratio/large", "check/parse", "1.8 KB, of TPC-DS size", ""},
		},
	},
	{
		title: "The guard on SQLite's SQL",
		text:  "The time of a complete check, divided by the time of the parser (meyer) alone. That parser needs microseconds. It is not the engine's own, so the check also compares every word of the statement with the tree.",
		pkg:   "./dialects/sqlite", bench: "^BenchmarkRatio$", cgo: "1",
		claims: []claim{
			{"Ratio/small", "check/parse", "48 bytes", "≤ 1.3"},
			{"Ratio/join", "check/parse", "270 bytes, a join", "≤ 1.3"},
			{"Ratio/report", "check/parse", "1.8 KB, of TPC-DS size", "≤ 1.3"},
		},
	},
	{
		title: "The guard on MySQL's SQL",
		text:  "The time of a complete check, divided by the time of TiDB's parser alone. That parser is not the servers' own, so the check also compares every word of the statement with the tree.",
		pkg:   "./dialects/mysql", bench: "^BenchmarkRatio$", cgo: "1",
		claims: []claim{
			{"Ratio/small", "check/parse", "48 bytes", ""},
			{"Ratio/join", "check/parse", "276 bytes, a join", ""},
			{"Ratio/report", "check/parse", "1.8 KB, of TPC-DS size", ""},
		},
	},
	{
		title: "The guard on SQL Server's SQL",
		text:  "The time of a complete check, and that time divided by the time of the reader's own parser, which states facts while it parses. There is no other parser to compare with.",
		pkg:   "./dialects/sqlserver", bench: "^BenchmarkRatio$", cgo: "1",
		claims: []claim{
			{"Ratio/small", "µs/median", "48 bytes", ""},
			{"Ratio/tpch5", "µs/median", "query 5 of TPC-H", "≤ 60"},
			{"Ratio/report", "µs/median", "1.8 KB, of TPC-DS size", ""},
			{"Ratio/small", "check/parse", "48 bytes", ""},
			{"Ratio/tpch5", "check/parse", "query 5 of TPC-H", ""},
			{"Ratio/report", "check/parse", "1.8 KB, of TPC-DS size", ""},
		},
	},
	{
		title: "The guard on ClickHouse's SQL",
		text:  "As for SQL Server: the reader has its own parser.",
		pkg:   "./dialects/clickhouse", bench: "^BenchmarkRatio$", cgo: "1",
		claims: []claim{
			{"Ratio/small", "µs/median", "48 bytes", ""},
			{"Ratio/join", "µs/median", "a join with an aggregate", ""},
			{"Ratio/report", "µs/median", "2 KB, of TPC-DS size", ""},
			{"Ratio/small", "check/parse", "48 bytes", ""},
			{"Ratio/join", "check/parse", "a join with an aggregate", ""},
			{"Ratio/report", "check/parse", "2 KB, of TPC-DS size", ""},
		},
	},
	{
		title: "The guard on DuckDB's SQL",
		text:  "As for SQLite, with darkwing as the parser.",
		pkg:   "./dialects/duckdb", bench: "^BenchmarkRatio$", cgo: "1",
		claims: []claim{
			{"Ratio/small", "check/parse", "48 bytes", ""},
			{"Ratio/join", "check/parse", "a join with an aggregate", ""},
			{"Ratio/report", "check/parse", "2 KB, of TPC-DS size", ""},
		},
	},
	{
		title: "The guard on BigQuery's SQL",
		text:  "As for SQLite, with zetajones as the parser.",
		pkg:   "./dialects/bigquery", bench: "^BenchmarkRatio$", cgo: "1",
		claims: []claim{
			{"Ratio/small", "check/parse", "48 bytes", ""},
			{"Ratio/join", "check/parse", "a join with an aggregate", ""},
			{"Ratio/report", "check/parse", "2 KB, of TPC-DS size", ""},
		},
	},
	{
		title: "A statement that was judged before",
		text:  "The verdict comes from the guard's cache, whose key is the complete statement.",
		pkg:   "./sqlguard", bench: "^BenchmarkCachedVerdict$", cgo: "1",
		claims: []claim{
			{"CachedVerdict/240", "ns/op", "240 bytes", "≤ 2000"},
			{"CachedVerdict/8192", "ns/op", "8 KiB, the longest that is kept", "≤ 2000"},
		},
	},
	{
		title: "Files in CI",
		text:  "`ktx sql check` of 10,000 statements in 2,000 files, in one process with the files in the page cache. The ratio divides its time by that of the parser (pg_query_go, TiDB's) alone for the same statements on the same processors. Warm runs use the cache of an earlier run.",
		pkg:   "./sqlcheck", bench: "^BenchmarkTree$", cgo: "1", time: "10x",
		claims: []claim{
			{"Tree/postgres", "check/parse", "PostgreSQL, cold", "≤ 2"},
			{"Tree/mysql", "check/parse", "MySQL, cold", "≤ 2"},
			{"Tree/postgres", "s/median", "PostgreSQL, warm", "≤ 0.1"},
			{"Tree/mysql", "s/median", "MySQL, warm", "≤ 0.1"},
		},
	},
	{
		title: "The first answer",
		text:  "From the start of `ktx mcp stdio` to the answer of the first sql_execution on an SQLite file: process, configuration, audit log, handshake, connection, recorded decision, rows.",
		pkg:   "./cmd/ktx", bench: "^BenchmarkFirstAnswer$", cgo: "1",
		claims: []claim{{"FirstAnswer", "ms/median", "whole process", "≤ 300"}},
	},
	{
		title: "MCP over HTTP",
		text:  "A call of a tool that does nothing but has the schema of sql_execution, behind everything that `ktx mcp start` puts before its tools (host, origin, token, rate, body, connections, sessions, time limits). The ratio divides its time by that of the same call to a server with only the SDK's handler, on one connection each.",
		pkg:   "./cmd/ktx/internal/streamable", bench: "^BenchmarkLatency$", cgo: "1", time: "3s",
		claims: []claim{
			{"Latency/2025-11-25", "p50", "in a session (2025-11-25), p50", "≤ 1.2"},
			{"Latency/2025-11-25", "p99", "in a session (2025-11-25), p99", ""},
			{"Latency/2026-07-28", "p50", "without sessions (2026-07-28), p50", "≤ 1.2"},
			{"Latency/2026-07-28", "p99", "without sessions (2026-07-28), p99", ""},
		},
	},
	{
		title: "A whole call over HTTP",
		text:  "sql_execution in a session of `ktx mcp start`, from the request of a client on the same machine to the end of the answer.",
		pkg:   "./cmd/ktx", bench: "^BenchmarkHTTP$", cgo: "1", time: "3s",
		claims: []claim{
			{"HTTP/sqlite", "ms/median", "an aggregate of 900 rows, SQLite", ""},
			{"HTTP/postgres", "ms/median", "SELECT 1, PostgreSQL", ""},
		},
	},
	{
		title: "Beside servers of others",
		text:  "SELECT 1 on one PostgreSQL, asked in turns of ktx and of published MCP servers: toolbox (@toolbox-sdk/server 1.12.0), server-postgres (@modelcontextprotocol/server-postgres 0.6.2) and dbhub (@bytebase/dbhub 1.4.0), as npm has them. The latency is the median of one client; the throughput is that of 32 clients. Each ratio divides the figure of ktx by that of the other server. Clients and servers share the processors. The others judge no statement, write no audit log and check no session.",
		pkg:   "./cmd/ktx", bench: "^BenchmarkPeers$", cgo: "1", time: "10x", peers: true,
		claims: []claim{
			{"Peers/stdio/one", "ktx-p50-ms", "stdio, latency of ktx", ""},
			{"Peers/stdio/one", "p50/toolbox", "stdio, latency to toolbox", "≤ 1.5"},
			{"Peers/stdio/one", "p50/server-postgres", "stdio, latency to server-postgres", ""},
			{"Peers/stdio/one", "p50/dbhub", "stdio, latency to dbhub", ""},
			{"Peers/stdio/one", "calls/toolbox", "stdio, throughput to toolbox", "≥ 0.7"},
			{"Peers/stdio/one", "calls/server-postgres", "stdio, throughput to server-postgres", ""},
			{"Peers/stdio/one", "calls/dbhub", "stdio, throughput to dbhub", ""},
			{"Peers/http/one", "ktx-p50-ms", "HTTP, latency of ktx", ""},
			{"Peers/http/one", "p50/toolbox", "HTTP, latency to toolbox", "≤ 1.5"},
			{"Peers/http/one", "calls/toolbox", "HTTP, throughput to toolbox", "≥ 0.7"},
			{"Peers/http/one", "p50/dbhub", "HTTP, latency to dbhub", ""},
			{"Peers/http/one", "calls/dbhub", "HTTP, throughput to dbhub", ""},
			{"Peers/stdio/rows", "calls/toolbox", "stdio, throughput of 1,000 rows to toolbox", ""},
			{"Peers/stdio/rows", "calls/server-postgres", "stdio, throughput of 1,000 rows to server-postgres", ""},
			{"Peers/stdio/rows", "calls/dbhub", "stdio, throughput of 1,000 rows to dbhub", ""},
		},
	},
	{
		title: "PostgreSQL through the gateway: latency",
		text:  "One client, warm. The time of a statement through the gateway (verdict from the cache, recorded decision and outcome, read-only transaction, pins, limits, rollback, reset), divided by its time through pgx in its default mode, which prepares the statement.",
		pkg:   "./execution/pgdb", bench: "^BenchmarkLatency$", cgo: "1", time: "3s",
		claims: []claim{
			{"Latency/one", "p50", "SELECT 1, p50", ""},
			{"Latency/one", "p99", "SELECT 1, p99", ""},
			{"Latency/millisecond", "p50", "an aggregate of one millisecond, p50", "≤ 1.3"},
			{"Latency/millisecond", "p99", "an aggregate of one millisecond, p99", ""},
			{"Latency/rows", "p50", "1,000 rows, p50", ""},
			{"Latency/rows", "p99", "1,000 rows, p99", ""},
		},
	},
	{
		title: "PostgreSQL through the gateway: throughput",
		text:  "The number of statements in a given time, divided by that of pgx with as many clients on 8 connections. The audit log is on, in its default mode. Client, gateway and server share the processors.",
		pkg:   "./execution/pgdb", bench: "^BenchmarkThroughput$", cgo: "1", time: "3s",
		claims: []claim{
			{"Throughput/one/1", "throughput", "SELECT 1, 1 client", ""},
			{"Throughput/one/16", "throughput", "SELECT 1, 16 clients", ""},
			{"Throughput/one/64", "throughput", "SELECT 1, 64 clients", ""},
			{"Throughput/millisecond/1", "throughput", "an aggregate of one millisecond, 1 client", ""},
			{"Throughput/millisecond/16", "throughput", "an aggregate of one millisecond, 16 clients", "≥ 0.8"},
			{"Throughput/millisecond/64", "throughput", "an aggregate of one millisecond, 64 clients", ""},
			{"Throughput/rows/1", "throughput", "1,000 rows, 1 client", ""},
			{"Throughput/rows/16", "throughput", "1,000 rows, 16 clients", ""},
			{"Throughput/rows/64", "throughput", "1,000 rows, 64 clients", ""},
		},
	},
	{
		title: "The modes of the audit log",
		text:  "The number of statements of 16 clients in a given time, divided by that with `sync: off`. `interval` is the default. `always` syncs the file before each statement, for several statements at a time.",
		pkg:   "./execution/pgdb", bench: "^BenchmarkAuditModes$", cgo: "1", time: "2s",
		claims: []claim{
			{"AuditModes/interval/one", "throughput", "SELECT 1, interval", ""},
			{"AuditModes/interval/millisecond", "throughput", "an aggregate of one millisecond, interval", ""},
			{"AuditModes/always/one", "throughput", "SELECT 1, always", ""},
			{"AuditModes/always/millisecond", "throughput", "an aggregate of one millisecond, always", ""},
		},
	},
	{
		title: "Memory",
		text:  "The greatest resident size of `ktx mcp stdio` during a call, divided by its resident size before the call, after a hundred small calls. The worst of three runs.",
		pkg:   "./cmd/ktx", bench: "^BenchmarkPeakMemory$", cgo: "1", time: "3x",
		claims: []claim{
			{"PeakMemory/cell", "peak/idle", "a cell of 250 MB", "≤ 2"},
			{"PeakMemory/rows", "peak/idle", "a table of 10 million rows", "≤ 2"},
			{"PeakMemory/rows", "MB-idle", "the process before", ""},
		},
	},
	{
		title: "Tools of other MCP servers",
		text:  "Calls over MCP to a ktx that has another server with many tools, which is a process. The overhead is the 95th percentile of tool_call less that of the same call without ktx. The memory is that of the process of the benchmark, with its client. The replayed day has a search each minute, and a list of tools holds for an hour of it; a hit is a search for which the server was not asked.",
		pkg:   "./research", bench: "^BenchmarkUpstream$", cgo: "1", time: "300x",
		claims: []claim{
			{"Upstream/527", "search-p95-ms", "527 tools, tool_search, p95", "≤ 100"},
			{"Upstream/527", "details-p95-ms", "527 tools, tool_details, p95", "≤ 50"},
			{"Upstream/527", "overhead-p95-ms", "527 tools, overhead of a call, p95", "≤ 10"},
			{"Upstream/527", "rss-MB", "527 tools, memory", "≤ 100"},
			{"Upstream/527", "hits-%", "527 tools, hits of a day", "≥ 80"},
			{"Upstream/1500", "search-p95-ms", "1,500 tools, tool_search, p95", "≤ 100"},
			{"Upstream/1500", "details-p95-ms", "1,500 tools, tool_details, p95", "≤ 50"},
			{"Upstream/1500", "overhead-p95-ms", "1,500 tools, overhead of a call, p95", "≤ 10"},
			{"Upstream/1500", "rss-MB", "1,500 tools, memory", "≤ 100"},
			{"Upstream/1500", "hits-%", "1,500 tools, hits of a day", "≥ 80"},
		},
	},
	{
		title: "A server beside one that misbehaves",
		text:  "The time of tool_call to one MCP server in phases of five seconds, with another server that misbehaves and without it, in turns: the 95th percentile with it divided by that without it, the median of three pairs. The other server is started within its phase, and is called all the time, with 10 ms after each call. Clients, ktx and servers share the processors, so what the other server does itself counts too; the first line is one that behaves well.",
		pkg:   "./research", bench: "^BenchmarkUpstreamBeside$", cgo: "1", time: "3x",
		claims: []claim{
			{"UpstreamBeside/well-behaved", "p95-ratio", "it behaves well", ""},
			{"UpstreamBeside/hangs", "p95-ratio", "it never answers a call", "≤ 1.2"},
			{"UpstreamBeside/dies", "p95-ratio", "it dies in each call", "≤ 1.2"},
			{"UpstreamBeside/50-MB-answers", "p95-ratio", "it answers with 50 MB", "≤ 1.2"},
			{"UpstreamBeside/invalid-lines", "p95-ratio", "it writes lines that are not JSON", "≤ 1.2"},
			{"UpstreamBeside/never-connected", "p95-ratio", "it never answers initialize", "≤ 1.2"},
			{"UpstreamBeside/endless-pages", "p95-ratio", "its list of tools does not end", "≤ 1.2"},
			{"UpstreamBeside/changes-its-tools", "p95-ratio", "it changes its tools without end", "≤ 1.2"},
			{"UpstreamBeside/floods-stderr", "p95-ratio", "it writes to standard error without end", "≤ 1.2"},
		},
	},
	{
		title: "Discovery in large projects",
		text:  "discover_data without a connection, in a project of one connection with half of the columns and forty small ones. The first answer of a process without caches (cold) and with those of the process before (warm), with the files in the page cache; then 200 questions, one after the other. Each call looks at all files of the scans: the line below the questions is that part alone. The peak is the resident size of the process.",
		pkg:   "./research", bench: "^BenchmarkScale$", cgo: "1", time: "1x",
		claims: []claim{
			{"Scale/100k", "cold-s", "100,000 columns, cold start", "≤ 3"},
			{"Scale/100k", "warm-s", "100,000 columns, warm start", ""},
			{"Scale/100k", "warm/cold", "100,000 columns, warm to cold", ""},
			{"Scale/100k", "p50-ms", "100,000 columns, a question, p50", "≤ 10"},
			{"Scale/100k", "p95-ms", "100,000 columns, a question, p95", "≤ 40"},
			{"Scale/100k", "files-ms", "100,000 columns, the files alone, p50", ""},
			{"Scale/100k", "MB-peak", "100,000 columns, the peak of a cold start", "≤ 400"},
			{"Scale/500k", "cold-s", "500,000 columns, cold start", "≤ 15"},
			{"Scale/500k", "warm-s", "500,000 columns, warm start", "≤ 3"},
			{"Scale/500k", "warm/cold", "500,000 columns, warm to cold", ""},
			{"Scale/500k", "p50-ms", "500,000 columns, a question, p50", "≤ 40"},
			{"Scale/500k", "p95-ms", "500,000 columns, a question, p95", "≤ 150"},
			{"Scale/500k", "files-ms", "500,000 columns, the files alone, p50", ""},
			{"Scale/500k", "MB-peak", "500,000 columns, the peak of a cold start", "≤ 1500"},
		},
	},
	{
		title: "A scan with profiles",
		text:  "`ktx scan` of 1,000 tables of PostgreSQL with 20 columns and 1,000 rows each, on the same machine: catalogue, profiles, values, relationships and artifacts, one statement at a time. The peak is the resident size of the process of the benchmark.",
		pkg:   "./research/scan", bench: "^BenchmarkPostgres$", cgo: "1", time: "1x",
		claims: []claim{
			{"Postgres", "scan-s", "1,000 tables, 20,000 columns, 1,000,000 rows", "≤ 300"},
			{"Postgres", "MB-peak", "its memory, the peak", "≤ 300"},
		},
	},
	{
		title: "The audit index",
		text:  "A log of 1,000,000 statements, 1.9 million events and 1.7 GB. Pages of 50 statements, counts beside conditions, and searches for a text, each twenty times; the figure is that of the filter that takes longest, of seventeen. On a machine without other work, a question takes at most its processor time.",
		pkg:   "./execution/audit/index", bench: "^BenchmarkIndex$", cgo: "1", time: "1x",
		claims: []claim{
			{"Index", "events/s", "build", "≥ 40000"},
			{"Index", "cpu-events/s", "build, by processor time", ""},
			{"Index", "of-the-log", "size of the index, as a share of the log", "≤ 0.6"},
			{"Index", "page-p50-ms", "a page of any filter, p50", "≤ 50"},
			{"Index", "page-p95-ms", "a page of any filter, p95", "≤ 200"},
			{"Index", "page-cpu-ms", "a page of any filter, processor time, p95", "≤ 50"},
			{"Index", "counts-p95-ms", "counts beside any filter, p95", "≤ 500"},
			{"Index", "counts-cpu-ms", "counts beside any filter, processor time, p95", "≤ 500"},
			{"Index", "text-p95-ms", "a page of a search for a text, p95", "≤ 300"},
			{"Index", "text-cpu-ms", "a page of a search for a text, processor time, p95", "≤ 300"},
		},
	},
	{
		title: "Checksums of the audit index",
		text:  "The processor time of work with an index whose pages have checksums, divided by that without them, in turns, on a log of 40,000 statements. The caches of the connections are empty before each round of questions.",
		pkg:   "./execution/audit/index", bench: "^BenchmarkChecksums$", cgo: "1", time: "1x",
		claims: []claim{
			{"Checksums", "build/unchecked", "build", "≤ 1.2"},
			{"Checksums", "page/unchecked", "a page by two conditions on all statements", "≤ 1.2"},
			{"Checksums", "rare/unchecked", "a page of a code", "≤ 1.2"},
			{"Checksums", "counts/unchecked", "counts of all statements", "≤ 1.2"},
			{"Checksums", "text/unchecked", "a page of a search for a text", "≤ 1.2"},
		},
	},
	{
		title: "The pages of the server",
		text:  "`ktx mcp start` over the same log, and a client on the same machine: from the request to the end of the answer, each twenty times, and the processor time of the server for one request. On a machine without other work, an answer takes at most its processor time. The first page is the overview of the last seven days of the log, about a quarter of it. The size is that of the overview with its style and script. The memory is the greatest resident size of the process after these pages, and after sixteen readers have asked at a time for overview, audit log, a search for a text and the corpus.",
		pkg:   "./cmd/ktx", bench: "^BenchmarkPages$", cgo: "1", time: "1x",
		claims: []claim{
			{"Pages", "first-p50-ms", "the first page, with seven days, p50", "≤ 50"},
			{"Pages", "first-cpu-ms", "the first page, processor time", "≤ 50"},
			{"Pages", "overview-p95-ms", "the overview of all statements, p95", "≤ 500"},
			{"Pages", "overview-cpu-ms", "the overview of all statements, processor time", "≤ 500"},
			{"Pages", "list-p50-ms", "the statements of a principal with their counts, p50", ""},
			{"Pages", "list-cpu-ms", "the statements of a principal with their counts, processor time", ""},
			{"Pages", "page-KB", "size of the overview", "≤ 100"},
			{"Pages", "rss-MB", "memory", "≤ 150"},
			{"Pages", "crowd-MB", "memory after sixteen readers at a time", "≤ 150"},
		},
	},
	{
		title: "Pages rated by Lighthouse",
		text:  "Lighthouse 12.8.2 rates overview, audit log, corpus, playground, tables and query of a server in Chromium, as on a slow telephone; the lowest of their ratings, of 100.",
		pkg:   "./cmd/ktx", bench: "^BenchmarkLighthouse$", cgo: "1", time: "1x", rated: true,
		claims: []claim{
			{"Lighthouse", "performance", "performance", "≥ 95"},
			{"Lighthouse", "accessibility", "accessibility", "≥ 95"},
		},
	},
	{
		title: "A catalogue of 5,000 skills",
		text:  "Skills of about 3 KB with a file beside each, searched by their words. The first answer of a process that reads all files (cold), and of one that has the index of the process before (warm), with the files in the page cache; then 400 recommendations, one after the other. The files are looked at again about every third of a second. The last line is how long it takes until a change of one skill is in the answers.",
		pkg:   "./research/skills", bench: "^BenchmarkCatalog$", cgo: "1", time: "1x",
		claims: []claim{
			{"Catalog", "cold-s", "cold start", ""},
			{"Catalog", "warm-s", "warm start", "≤ 1"},
			{"Catalog", "p50-ms", "a recommendation, p50", ""},
			{"Catalog", "p95-ms", "a recommendation, p95", "≤ 20"},
			{"Catalog", "edit-ms", "until a changed skill is found", ""},
		},
	},
	{
		title: "PostgreSQL through the backend alone",
		text:  "The time of a statement through pgdb, divided by its time through pgx in its default mode, without guard and audit log.",
		pkg:   "./execution/pgdb", bench: "^BenchmarkRatio$", cgo: "1",
		claims: []claim{
			{"Ratio/one", "ratio", "SELECT 1", ""},
			{"Ratio/aggregate", "ratio", "an aggregate of half a millisecond", ""},
			{"Ratio/rows", "ratio", "1,000 rows", ""},
		},
	},
	{
		title: "ClickHouse through the gateway: latency",
		text:  "One client, warm. The time of a statement through the gateway with its audit log, divided by the time of one POST by Go's HTTP client, which checks nothing and reads the rows without taking them apart. The engine is the library behind a stand-in for its HTTP interface, which opens a session for each request; `make test-engines` fetches it.",
		pkg:   "./execution/clickhousedb", bench: "^BenchmarkLatency$", cgo: "1", time: "3s", engine: true,
		claims: latencies,
	},
	{
		title: "DuckDB through the gateway: latency",
		text:  "One client, warm. The time of a statement through the gateway with its audit log, whose rows come as texts from a process of its own, divided by its time through the engine's own interface in the same process, which leaves the values in the engine's form. Both have two threads.",
		pkg:   "./execution/duckdbdb", bench: "^BenchmarkLatency$", cgo: "1", time: "3s", tags: "duckdb",
		claims: latencies,
	},
	{
		title: "BigQuery through the gateway: latency",
		text:  "One client, warm. The time of a statement through the gateway with its audit log, which asks for a dry run, the job, its end and its rows, divided by the time of Go's HTTP client, which checks nothing, asks for the job and its rows, and leaves them as they are. A stand-in answers at once, so the ratio is that of the requests; the service takes longer for each.",
		pkg:   "./execution/bigquerydb", bench: "^BenchmarkLatency$", cgo: "1", time: "3s",
		claims: []claim{
			{"Latency/one", "p50", "SELECT 1, p50", ""},
			{"Latency/one", "p99", "SELECT 1, p99", ""},
			{"Latency/rows", "p50", "1,000 rows, p50", ""},
			{"Latency/rows", "p99", "1,000 rows, p99", ""},
		},
	},
	{
		title: "SQLite through the backend",
		text:  "The time of a statement through sqlitedb, divided by its time through the driver alone.",
		pkg:   "./execution/sqlitedb", bench: "^BenchmarkRatio$", cgo: "1",
		claims: []claim{
			{"Ratio/one", "ratio", "SELECT 1", ""},
			{"Ratio/aggregate", "ratio", "an aggregate of half a millisecond", ""},
			{"Ratio/rows", "ratio", "1,000 rows", ""},
			{"Ratio/wide", "ratio", "wide rows", ""},
		},
	},
	{
		title: "SQLite in C and in Go: aggregates",
		text:  "Aggregates over 200,000 rows. The time through the backend of a build with SQLite's C library (`make build-csqlite`), and the time of the library in Go that every other build has, each divided by the time of the C library alone.",
		pkg:   "./execution/sqlitedb", bench: "^BenchmarkNative$", cgo: "1", inC: true,
		claims: []claim{
			{"Native/filter", "ratio", "a filter, through the backend in C", "≤ 1.3"},
			{"Native/few-groups", "ratio", "four groups, through the backend in C", "≤ 1.3"},
			{"Native/many-groups", "ratio", "5,000 groups, through the backend in C", "≤ 1.3"},
			{"Native/distinct", "ratio", "distinct values in months, through the backend in C", "≤ 1.3"},
			{"Native/filter", "ratio-go", "a filter, the library in Go", ""},
			{"Native/few-groups", "ratio-go", "four groups, the library in Go", ""},
			{"Native/many-groups", "ratio-go", "5,000 groups, the library in Go", ""},
			{"Native/distinct", "ratio-go", "distinct values in months, the library in Go", ""},
		},
	},
	{
		title: "The semantic layer: reading a model",
		text:  "Models of 20 columns a source, two of them computed, with a join, three measures and a segment each. The ratio divides the time from the files to the checked model by that of the YAML library alone for the same files, one after the other. The goals are for a machine without other work, on which the time is at most the processor time.",
		pkg:   "./research/semantic", bench: "^Benchmark(Snapshot|Changed|Fresh)$", cgo: "1", time: "10x",
		claims: []claim{
			{"Snapshot/100", "ms/median", "100 sources, the first time", ""},
			{"Snapshot/100", "cpu-ms", "100 sources, the first time, processor time", "≤ 50"},
			{"Snapshot/100", "ratio", "100 sources, the first time", ""},
			{"Snapshot/1000", "ms/median", "1,000 sources, the first time", ""},
			{"Snapshot/1000", "cpu-ms", "1,000 sources, the first time, processor time", "≤ 1000"},
			{"Snapshot/1000", "ratio", "1,000 sources, the first time", ""},
			{"Changed/100", "ms/median", "100 sources, one file changed", ""},
			{"Changed/1000", "ms/median", "1,000 sources, one file changed", ""},
			{"Fresh/100", "µs/median", "100 files, none changed", ""},
			{"Fresh/1000", "µs/median", "1,000 files, none changed", ""},
		},
	},
	{
		title: "The semantic layer: compiling a request",
		text:  "The time from a request to its SQL with a model in memory: one base, two bases, an expression with a segment, and a path through the whole model, in turns.",
		pkg:   "./research/semantic", bench: "^BenchmarkCompile$", cgo: "1",
		claims: []claim{
			{"Compile/16", "p50-µs", "16 sources, p50", "≤ 300"},
			{"Compile/16", "p95-µs", "16 sources, p95", "≤ 1000"},
			{"Compile/1000", "p95-µs", "1,000 sources, p95", "≤ 5000"},
		},
	},
	{
		title: "The SQL of the semantic layer: writing it",
		text:  "The time to write a plan of two facts, three dimensions, and a spine as SQL.",
		pkg:   "./research/semantic/emit", bench: "^BenchmarkEmit$", cgo: "1",
		claims: []claim{
			{"Emit/postgres", "µs/median", "PostgreSQL", "≤ 100"},
			{"Emit/mysql", "µs/median", "MySQL and MariaDB", "≤ 100"},
			{"Emit/sqlite", "µs/median", "SQLite", "≤ 100"},
			{"Emit/sqlserver", "µs/median", "SQL Server", "≤ 100"},
		},
	},
	{
		title: "The SQL of the semantic layer: running it",
		text:  "The time of a sum over each of two facts of 400,000 rows, by the names of 100,000 customers, the first 100 in order, divided by that of the fastest of several ways to write the same by hand.",
		pkg:   "./research/semantic/emit", bench: "^BenchmarkShape$", cgo: "1", time: "3x",
		claims: []claim{
			{"Shape/sqlite", "ratio", "SQLite", "≤ 1.5"},
			{"Shape/postgres", "ratio", "PostgreSQL", "≤ 1.5"},
		},
	},
}

func main() {
	count := flag.Int("count", 5, "runs of every benchmark")
	out := flag.String("o", "docs/evidence/performance.md", "the page")
	only := flag.String("only", "", "a pattern of titles; the other sections stay as they are on the page")
	flag.Parse()
	if err := run(*count, *out, *only); err != nil {
		log.Fatal(err)
	}
}

func run(count int, out, only string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	kept := map[string]string{}
	facts := strings.Join(machine(ctx), "\n")
	elsewhere := "" // what sections say that are measured on another machine than the page
	if only != "" {
		old, err := os.ReadFile(out) //nolint:gosec // the page to write anew, named on the command line
		if err != nil {
			return err
		}
		for section := range strings.SplitSeq(string(old), "\n## ") {
			title, text, _ := strings.Cut(section, "\n")
			if title == "# Performance" {
				i := strings.Index(text, "\n- ")
				if was := strings.TrimSpace(text[max(i, 0):]); i >= 0 && was != facts {
					elsewhere = fmt.Sprintf(" Measured on another machine than the rest of this page: %d processors, %s, shared with other work.", runtime.NumCPU(), processor())
					facts = was
				}
				continue
			}
			kept[title] = "\n## " + strings.TrimRight(section, "\n") + "\n"
		}
	}
	var page bytes.Buffer
	if err := write(ctx, &page, count, pattern, kept, facts, elsewhere); err != nil {
		return err
	}
	return os.WriteFile(out, page.Bytes(), 0o644) //nolint:gosec // a page for everyone
}

// write writes the page. It copies the sections whose titles the pattern does
// not match from kept, and leaves out those that were never measured. facts are
// those of the page's machine.
func write(ctx context.Context, w io.Writer, count int, only *regexp.Regexp, kept map[string]string, facts, elsewhere string) error {
	_, _ = fmt.Fprintf(w, `# Performance

%[1]s writes this page. Each figure is the median of several runs, with their range beside it. A ratio (×) compares two measurements that alternate within one run, so it carries over to other machines. Absolute times belong to the machine below, which is shared and noisy. No test checks a time.

%[2]s
`, "`make bench`", facts)
	for _, s := range suites {
		if !only.MatchString(s.title) || s.engine && os.Getenv("KTX_TEST_CHDB") == "" {
			old, ok := kept[s.title]
			if !ok {
				continue // not measured yet
			}
			_, _ = io.WriteString(w, old)
			delete(kept, s.title)
			continue
		}
		delete(kept, s.title)
		results, err := measure(ctx, s, count)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(w, "\n## %s\n\n%s\n\n| statement | median | range | unit | goal |\n|---|---:|---|---|---|\n", s.title, s.text+elsewhere)
		for _, c := range s.claims {
			values := results[c.bench+" "+c.unit]
			if len(values) == 0 {
				return fmt.Errorf("%s reports no %s for %s", s.pkg, c.unit, c.bench)
			}
			slices.Sort(values)
			unit := strings.TrimSuffix(c.unit, "/median")
			switch unit {
			case "check/parse", "ratio", "ratio-go", "p95-ratio", "p50", "p99", "throughput", "peak/idle":
				unit = ratio
			case "cpu-events/s":
				unit = "events/s"
			case "warm/cold":
				unit = ratio
			case "p50-µs", "p95-µs":
				unit = "µs"
			case "hits-%":
				unit = "%"
			case "MB-idle", "MB-peak", "rss-MB", "crowd-MB":
				unit = "MB"
			case "cold-s", "warm-s", "scan-s":
				unit = "s"
			case "p50/toolbox", "p50/server-postgres", "p50/dbhub", "calls/toolbox", "calls/server-postgres", "calls/dbhub":
				unit = ratio
			case "p50-ms", "p95-ms", "files-ms", "edit-ms", "ktx-p50-ms", "cpu-ms", "search-p95-ms", "details-p95-ms", "overhead-p95-ms",
				"page-cpu-ms", "counts-cpu-ms", "text-cpu-ms", "first-cpu-ms", "overview-cpu-ms", "list-cpu-ms", "page-p50-ms", "page-p95-ms", "counts-p95-ms", "text-p95-ms", "first-p50-ms", "overview-p95-ms", "list-p50-ms":
				unit = "ms"
			case "page-KB":
				unit = "KB"
			case "of-the-log", "build/unchecked", "page/unchecked", "rare/unchecked", "counts/unchecked", "text/unchecked":
				unit = ratio
			case "performance", "accessibility":
				unit = "of 100"
			}
			goal := c.goal
			if goal == "" {
				goal = "none"
			}
			_, _ = fmt.Fprintf(w, "| %s | %s | %s – %s | %s | %s |\n", c.what, figure(values[len(values)/2]), figure(values[0]), figure(values[len(values)-1]), unit, goal)
		}
	}
	for _, title := range slices.Sorted(maps.Keys(kept)) { // no benchmark of this list
		_, _ = io.WriteString(w, kept[title])
	}
	return nil
}

func figure(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

var line = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// measure returns the values of every benchmark and unit of a suite.
func measure(ctx context.Context, s suite, count int) (map[string][]float64, error) {
	tool := []string{"go", "test", "-tags", s.tags}
	if s.inC {
		tool = []string{"scripts/go-csqlite", "test"}
	}
	args := append(slices.Clone(tool[1:]), "-run", "^$", "-bench", s.bench, "-benchtime", cmp.Or(s.time, "1s"), "-count", strconv.Itoa(count), "-timeout", "30m", s.pkg)
	cmd := exec.CommandContext(ctx, tool[0], args...) //nolint:gosec // the texts are constants
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+s.cgo)
	if s.peers {
		dir, err := npmTools(ctx, "peers")
		if err != nil {
			return nil, err
		}
		cmd.Env = append(cmd.Env, "KTX_BENCH_PEERS="+dir)
	}
	if s.rated {
		dir, err := npmTools(ctx, "lighthouse")
		if err != nil {
			return nil, err
		}
		cmd.Env = append(cmd.Env, "KTX_BENCH_LIGHTHOUSE="+dir)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("benchmarks of %s: %w\n%s%s", s.pkg, err, text, stderr.String())
	}
	results := map[string][]float64{}
	for scanner := bufio.NewScanner(bytes.NewReader(text)); scanner.Scan(); {
		m := line.FindStringSubmatch(scanner.Text())
		if m == nil {
			continue
		}
		fields := strings.Fields(m[2])
		for i := 0; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("benchmarks of %s: %w", s.pkg, err)
			}
			key := m[1] + " " + fields[i+1]
			results[key] = append(results[key], v)
		}
	}
	return results, nil
}

// npmTools installs the programs of tools/NAME/package.json, and returns their folder.
func npmTools(ctx context.Context, name string) (string, error) {
	where, err := exec.CommandContext(ctx, "scripts/npm-tools", name).Output() //nolint:gosec // one of two names
	if err != nil {
		return "", fmt.Errorf("install %s: %w", name, err)
	}
	return strings.TrimSpace(string(where)), nil
}

// machine lists the properties of the machine that the figures depend on.
func machine(ctx context.Context) []string {
	facts := []string{
		"- " + runtime.Version() + " on " + runtime.GOOS + "/" + runtime.GOARCH,
		fmt.Sprintf("- %d processors, %s", runtime.NumCPU(), processor()),
	}
	if text, err := exec.CommandContext(ctx, "postgres", "--version").Output(); err == nil {
		facts = append(facts, "- "+strings.TrimSpace(string(text)))
	}
	return facts
}

func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "of an unknown kind"
	}
	for l := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "of an unknown kind"
}
