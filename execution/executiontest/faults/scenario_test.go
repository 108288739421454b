//go:build linux

package faults_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/duckdbdb/engine"
	"github.com/ktxhq/ktx/execution/executiontest/executable"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// fullVariable selects all scenarios when its value is "full".
const fullVariable = "KTX_TEST_FAULTS"

// hang is far longer than anything in these tests takes.
const hang = 2 * time.Minute

var update = flag.Bool("update", false, "write the results to docs/evidence/reliability.md")

// A scenario is one fault and what must hold under it.
type scenario struct {
	name string // of the test, and of the row in the document
	does string // what the scenario does
	// codes are the codes with which a call may end instead of its right
	// answer. Every other code fails the scenario.
	codes  []sqlguard.Code
	passes string // what must hold in addition
	// full leaves the scenario out of the quick half.
	full bool
	// mariadb says that the scenario uses a MariaDB database.
	mariadb bool
	// run runs the scenario, and returns the figures of its result.
	run func(s *stand) string
}

// A group is a part of the document.
type group struct {
	title     string
	scenarios []scenario
}

// groups are all scenarios.
func groups() []group {
	return []group{
		{"The network", network},
		{"Answers cut short", truncation},
		{"The server", server},
		{"MariaDB: the network", mariadbNetwork},
		{"MariaDB: answers cut short", onMariaDB(truncation...)},
		{"MariaDB: the server", mariadbServer},
		{"MariaDB: the process and its client", mariadbProcess},
		{"A pooler in front", pooler},
		{"The process and its client", process},
		{"The audit log", auditLog},
		{"File descriptors", slices.Concat(noDescriptorsOnServer, onMariaDB(noDescriptorsOnServer...), noDescriptors)},
		{"Load and size", load},
		{"Clocks", clocks},
		{"SQLite files", sqliteFiles},
		{"ClickHouse's interface", onClickHouse},
		{"Statements that do not end", slices.Concat(unendingOnServer, onMariaDB(unendingOnServer...), unendingOnStandIn, unendingOnClickHouse, unendingOnFile, unendingOnDuckDB)},
	}
}

// full reports whether all scenarios run.
func full() bool { return os.Getenv(fullVariable) == "full" }

func TestMain(m *testing.M) {
	if engine.Asked(os.Args[1:]) {
		os.Exit(engine.Run(os.Stdin, os.Stdout))
	}
	os.Exit(executable.Run(func() int { return testdb.Run(m) }))
}

// TestFaults runs the scenarios one after the other, because each counts
// goroutines and file descriptors. It writes the results to the document if
// that was requested.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers and processes")
	}
	results := map[string]string{}
	warmUp(t)
	for _, g := range groups() {
		t.Run(strings.ReplaceAll(g.title, " ", "_"), func(t *testing.T) {
			for _, sc := range g.scenarios {
				if sc.full && !full() {
					continue
				}
				before := takeStock(t)
				figures, skipped := "", false
				ok := t.Run(sc.name, func(t *testing.T) {
					defer func() { skipped = t.Skipped() }()
					s := &stand{T: t, scenario: &sc}
					figures = sc.run(s)
					s.close()
				})
				clean := before.compare(t, sc.name)
				switch {
				case skipped:
				case !ok || !clean:
					results[sc.name] = "**fails**"
				case figures != "":
					results[sc.name] = "passes: " + figures
				default:
					results[sc.name] = "passes"
				}
			}
		})
	}
	if *update {
		writeResults(t, results)
	}
}
