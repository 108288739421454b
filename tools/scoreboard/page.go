package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/corpus"
)

// tally counts the results of one run.
type tally struct {
	rejects, executed, changed, limit     int // of reject cases
	byServer, byDatabase, anyway          int
	rejectFaults, rejectOpen              int
	allows, falseRejects, faults, notHere int // of allow cases
	class                                 map[string]share
}

// share is a part of a whole.
type share struct{ n, of int }

func (s share) String() string {
	if s.of == 0 {
		return "–"
	}
	return fmt.Sprintf("%d/%d", s.n, s.of)
}

// count counts the results of a run. It leaves out cases that the corpus no
// longer has.
func count(r run, cases map[string]corpus.Case) (tally, error) {
	t := tally{class: map[string]share{}}
	for key, ids := range r.Cases {
		decision, code, _ := strings.Cut(key, " ")
		for _, id := range ids {
			c, ok := cases[id]
			if !ok {
				continue
			}
			var err error
			switch c.Expect {
			case corpus.Reject:
				err = t.reject(c, decision, code)
			case corpus.Allow:
				err = t.allow(decision, code)
			case corpus.Policy: // either answer is right
			}
			if err != nil {
				return t, fmt.Errorf("%s as %s: %s: %w", r.Server, r.Role, id, err)
			}
		}
	}
	return t, nil
}

// reject counts the result of a reject case.
func (t *tally) reject(c corpus.Case, decision, code string) error {
	faulty := code == "crash" || code == "timeout" || code == "bad_reply"
	if decision == "error" && !faulty {
		t.rejectOpen++
		return nil
	}
	t.rejects++
	class := t.class[c.Class]
	class.of++
	switch {
	case decision == "allow":
		t.executed++
		class.n++
		switch code {
		case "executed":
		case "executed_changed":
			t.changed++
		case "executed_until_limit":
			t.limit++
		default:
			return fmt.Errorf("unknown code %q", code)
		}
	case faulty:
		t.rejectFaults++
	case code == "refused_by_server":
		t.byServer++
	case strings.HasPrefix(code, "refused_by_database_"):
		t.byDatabase++
	case strings.HasPrefix(code, "fails_anyway_"):
		t.anyway++
	default:
		return fmt.Errorf("unknown answer %q %q", decision, code)
	}
	t.class[c.Class] = class
	return nil
}

// allow counts the result of an allow case.
func (t *tally) allow(decision, code string) error {
	faulty := code == "crash" || code == "timeout" || code == "bad_reply"
	if decision == "error" && !faulty {
		t.notHere++
		return nil
	}
	t.allows++
	switch {
	case faulty:
		t.faults++
	case decision == "reject":
		t.falseRejects++
	case decision != "allow":
		return fmt.Errorf("unknown answer %q %q", decision, code)
	}
	return nil
}

// title says how a server connects, to a database of a dialect.
func title(dialect, role string) string {
	switch {
	case dialect == "sqlite":
		return "with a file that it may write"
	case role == "superuser":
		return "connected as a superuser"
	default:
		return "connected as a role that may only SELECT"
	}
}

// markdown returns the page. judged is its part about guards without a server.
func markdown(s *scoreboard, servers []server, cases map[string]corpus.Case, judged string) (string, error) {
	type key struct{ dialect, role, server string }
	tallies, versions, given := map[key]tally{}, map[key]string{}, map[key]string{}
	behind := 0
	for _, r := range s.Runs {
		t, err := count(r, cases)
		if err != nil {
			return "", err
		}
		tallies[key{r.Dialect, r.Role, r.Server}] = t
		versions[key{r.Dialect, "", r.Server}] = r.Version
		given[key{r.Dialect, r.Role, r.Server}] = r.Corpus
		if r.Corpus != corpus.Version() {
			behind++
		}
	}
	for _, server := range servers {
		if len(server.roles()) == 0 {
			return "", fmt.Errorf("%s: no database for the dialect %q", server.Name, server.Dialect)
		}
		for _, role := range server.roles() {
			if _, ok := tallies[key{server.Dialect, role, server.Name}]; !ok {
				return "", fmt.Errorf("no run of %s on %s as %s", server.Name, server.Dialect, role)
			}
		}
	}
	var b strings.Builder
	b.WriteString(opening)
	fmt.Fprintf(&b, "| | |\n|---|---|\n| date | %s |\n", s.Date)
	for _, d := range databases {
		_, version, _ := strings.Cut(s.Engines[d.dialect], " ")
		fmt.Fprintf(&b, "| %s | %s |\n", d.title, version)
	}
	fmt.Fprintf(&b, "| Node.js | %s |\n| corpus | %s, SHA-256 of cases.json `%s`, where a row says nothing else |\n| package-lock.json | SHA-256 `%s` |\n| ktx | built from commit `%s` or its work tree |\n\n",
		s.Node, s.Corpus, s.CorpusSHA, s.LockSHA, s.Commit)
	b.WriteString("## The servers\n\n| here | database | package | version | setting | what it promises |\n|---|---|---|---|---|---|\n")
	of := func(dialect string) (list []server) {
		for _, server := range servers {
			if server.Dialect == dialect {
				list = append(list, server)
			}
		}
		return list
	}
	for _, d := range databases {
		for _, server := range of(d.dialect) {
			name, version := server.Package, versions[key{d.dialect, "", server.Name}]
			if name == "" {
				name, version = "this repository", "see above"
			} else {
				name = "`" + name + "`"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", server.Name, d.title, name, version, server.Setting, server.Promise)
		}
	}
	b.WriteString("\n## What happened\n")
	if behind > 0 {
		fmt.Fprintf(&b, "\nThe corpus is %s now. %d of %d rows were measured with an earlier version, which the column corpus\nnames: they lack the cases that were added since, and may have another text for a case.\n", corpus.Version(), behind, len(s.Runs))
	}
	for _, d := range databases {
		for _, role := range d.roles {
			fmt.Fprintf(&b, "\n### %s, %s\n\n", d.title, title(d.dialect, role))
			b.WriteString("| server | corpus | executed | change seen | until a limit | refused by the server | refused by the database | fails anyway | crash, time-out | not judged | false rejects |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
			for _, server := range of(d.dialect) {
				t := tallies[key{d.dialect, role, server.Name}]
				fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %d | %d | %d | %d | %d | %s |\n", server.Name, given[key{d.dialect, role, server.Name}], share{t.executed, t.rejects},
					t.changed, t.limit, t.byServer, t.byDatabase, t.anyway, t.rejectFaults+t.faults, t.rejectOpen+t.notHere, share{t.falseRejects, t.allows})
			}
		}
	}
	b.WriteString(reading)
	b.WriteString("## By class\n\nCases that must be refused and were executed, of those judged.\n")
	for _, d := range databases {
		list := of(d.dialect)
		for _, role := range d.roles {
			fmt.Fprintf(&b, "\n### %s, %s, by class\n\n| class |", d.title, title(d.dialect, role))
			for _, server := range list {
				b.WriteString(" " + server.Name + " |")
			}
			b.WriteString("\n|---|" + strings.Repeat("---|", len(list)) + "\n")
			for _, class := range corpus.Classes() {
				if !slices.ContainsFunc(list, func(server server) bool { return tallies[key{d.dialect, role, server.Name}].class[class.Name].of > 0 }) {
					continue
				}
				fmt.Fprintf(&b, "| %s |", class.Name)
				for _, server := range list {
					fmt.Fprintf(&b, " %s |", tallies[key{d.dialect, role, server.Name}].class[class.Name])
				}
				b.WriteString("\n")
			}
		}
	}
	b.WriteString(judged)
	b.WriteString(closing)
	return b.String(), nil
}

const opening = `# Scoreboard

<!-- Written by tools/scoreboard from corpus/adapters/results.json; make scoreboard makes both. -->

This page shows what happened when the cases of the
[corpus](../../corpus/README.md) for PostgreSQL, MySQL and SQLite were sent to MCP
servers, each in front of its own throw-away database. The cases for MySQL ran on
MariaDB; some of them are about MySQL only and fail there anyway. It measures these versions, in these settings, with these
statements. It does not judge a product: most of the servers do not promise what
the corpus asks for, and a server whose role has few rights can be safe without
refusing anything.

`

const reading = `
The six columns from “executed” on count cases that a read-only guard must refuse.

- **executed**: the database ran the statement to its end, or until a limit stopped
  it. ` + "`ktx corpus run`" + ` counts these as bypasses.
- **change seen**: it was executed, and a probe then found a change: rows,
  catalogues, sequences, files, settings, locks, sessions. A statement that only
  reads (a file, a secret) or is rolled back leaves no change.
- **until a limit**: it was executed until a time limit or a limit on temporary
  files stopped it.
- **refused by the server**: the statement did not reach the database.
- **refused by the database**: it reached the database and failed because of how
  the server ran it: in a read-only transaction, or without the statements that
  belong to it.
- **fails anyway**: it reached the database, and also fails there from the same
  role without the server. A privilege, an extension or a file is missing, or the
  syntax is wrong.
- **crash, time-out**: the server ended or did not answer, over all cases.
- **not judged**: text that JSON cannot carry, cases for other versions of the
  database, and statements that were kept from the database because they would
  reach another machine or exhaust this one.
- **false rejects**: the server refused a case that must pass.

`

const closing = `
## How it was measured

` + "`ktx corpus run --guard mcp:CMD`" + ` started every server over standard input and
output. For ktx it started ` + "`ktx mcp stdio`" + `, not the guard alone.
[ktx-prove.md](ktx-prove.md#an-mcp-server-as-a-guard) says how a case is judged: by
what happens in the database, before the answer of the server counts.

To read the tables fairly:

- ktx is developed and tested with this corpus, so its result is no surprise. A
  statement that ktx wrongly allows is not in the corpus yet.
- The benign cases look like attacks on purpose. The false rejects say nothing
  about the rate on real work.
- Many cases do no harm themselves, such as two harmless statements in one text,
  or a comment that parsers end in different places. A guard that lets them pass
  also lets harmful ones pass, so the corpus demands a refusal. They count as
  executed here.
- Servers that promise to run every statement are listed for comparison.
- An MCP server for SQLite has the database within itself, so nothing sees the
  statements between the two. A change is seen in the file; whether a statement that
  only reads was run is taken from the answer.
- The superuser is the worst case. No server is meant to run as one, so the second
  table is closer to real use.

## Repeating the measurement

` + "```sh" + `
make scoreboard                    # needs npm, node, cc, PostgreSQL and MariaDB; takes more than an hour
make scoreboard ARGS="-jobs 4"     # four servers at the same time
make scoreboard ARGS=-keep         # runs nothing: writes the runs that ended, and keeps the older results of the others
` + "```" + `

The command installs the versions in
[package-lock.json](../../corpus/adapters/package-lock.json) into an ignored
directory; npm checks their hashes. It runs every server in
[servers.json](../../corpus/adapters/servers.json) as each role, and writes
[results.json](../../corpus/adapters/results.json) with every case, and this page. A
test compares the page with the results, and the versions with the lock file.
`
