//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
)

// shellOf starts ktx sql -i on a terminal of its own, in a project with the demo.
func shellOf(t *testing.T, args ...string) *dialogue {
	t.Helper()
	d := &dialogue{t: t, home: t.TempDir(), dir: shop(t), term: "xterm"}
	d.run(append([]string{"sql", "-i"}, args...)...)
	return d
}

// TestShell types statements and commands into the shell: over several lines, several
// in one line, refused ones, and an interrupted one, after each of which the shell
// lives.
func TestShell(t *testing.T) {
	t.Parallel()
	d := shellOf(t)
	d.answer("demo=> ", "select 41 +\r")
	d.answer("demo-> ", "1 as sum -- not the end;\r")
	d.answer("demo-> ", ";\r")
	d.expect("sum\n42\n")
	d.answer("demo=> ", "select 'a;b' as one; select 7 as two;\r")
	d.expect("one\na;b\n")
	d.expect("two\n7\n")
	d.answer("demo=> ", "delete from orders;\r")
	d.expect("write_statement")
	d.answer("demo=> ", "select nothing_like_it;\r")
	d.expect("nothing_like_it")
	// Ctrl-C drops the lines that were typed.
	d.answer("demo=> ", "select 1 +\r")
	d.answer("demo-> ", ctrlC)
	// It ends a statement that runs, and the shell goes on.
	d.answer("demo=> ", "with recursive c(n) as (select 1 union all select n+1 from c) select count(*) from c;\r")
	d.expect("from c;\n")
	d.interruptUntil("cancelled")
	d.answer("demo=> ", "\\timing\r")
	d.expect("timing is on")
	d.answer("demo=> ", "select 5 as five;\r")
	d.expect("five\n5\nTime: ")
	d.answer("demo=> ", "\\x\r")
	d.expect("expanded is on")
	d.answer("demo=> ", "select 5 as five;\r")
	d.expect("five | 5\n")
	d.answer("demo=> ", "\\x sideways\r")
	d.expect("sideways")
	d.answer("demo=> ", "\\d\r")
	d.expect("order_items")
	d.answer("demo=> ", "\\d ORDERS\r")
	d.expect("customer_id")
	d.expect("customers.id")
	d.answer("demo=> ", "\\d orderz\r")
	d.expect("did you mean orders?")
	d.answer("demo=> ", "\\c\r")
	d.expect("SQLITE")
	d.answer("demo=> ", "\\c other\r")
	d.expect("other")
	d.answer("demo=> ", "\\nothing\r")
	d.expect("unknown command \\nothing")
	d.answer("demo=> ", "\\?\r")
	d.expect("Ctrl-C ends a statement")
	d.answer("demo=> ", "\\q\r")
	d.ends(0)
}

// TestShellCompletes: Tab completes tables, columns of the tables of the statement, of an
// alias, and the arguments of commands.
func TestShellCompletes(t *testing.T) {
	t.Parallel()
	d := shellOf(t)
	for _, c := range []struct{ typed, completed string }{
		{"select * from custo\t", "select * from customers"},
		{"select o.ordered\t from orders o;", ""}, // nothing behind the cursor is known yet
		{"select * from orders as o where o.custo\t", "where o.customer_id"},
		{"select * from customers where coun\t", "where country"},
		{"\\d order_\t", "\\d order_items"},
		{"\\c d\t", "\\c demo"},
	} {
		d.answer("demo=> ", c.typed)
		if c.completed != "" {
			d.expect(c.completed)
		}
		d.press(ctrlC)
	}
	d.answer("demo=> ", ctrlD)
	d.ends(0)
}

// TestShellKeepsItsHistory: what was typed is there in the next run, in a file that
// nobody else can read, and not through a link that leads out of the project.
func TestShellKeepsItsHistory(t *testing.T) {
	t.Parallel()
	d := shellOf(t)
	d.answer("demo=> ", "select 6*7 as product;\r")
	d.expect("product\n42\n")
	d.answer("demo=> ", ctrlD)
	d.ends(0)
	file := filepath.Join(d.dir, ".ktx", "sql_history")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	again := &dialogue{t: t, home: d.home, dir: d.dir, term: "xterm"}
	again.run("sql", "-i")
	again.answer("demo=> ", "\x1b[A") // the key up
	again.expect("select 6*7 as product;")
	again.press("\r")
	again.expect("product\n42\n")
	again.answer("demo=> ", ctrlD)
	again.ends(0)

	victim := filepath.Join(d.home, "victim")
	put(t, victim, "mine\n")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, file); err != nil {
		t.Fatal(err)
	}
	linked := &dialogue{t: t, home: d.home, dir: d.dir, term: "xterm"}
	linked.run("sql", "-i")
	linked.expect("the history is not kept")
	linked.answer("demo=> ", "select 1 as one;\r")
	linked.expect("one\n1\n")
	linked.answer("demo=> ", ctrlD)
	linked.ends(0)
	if text, err := os.ReadFile(victim); err != nil || string(text) != "mine\n" {
		t.Errorf("%q %v", text, err)
	}
}

// TestShellWithoutALineEditor: on a terminal that cannot move its cursor the shell reads
// plain lines, and with several connections it asks for one.
func TestShellWithoutALineEditor(t *testing.T) {
	t.Parallel()
	d := &dialogue{t: t, home: t.TempDir(), dir: shop(t)}
	config := filepath.Join(d.dir, "ktx.yaml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	put(t, config, strings.Replace(string(text), "connections:\n", "connections:\n  other: {driver: sqlite, path: shop.db}\n", 1))
	d.run("sql", "-i")
	d.expect("other")
	d.answer("=> ", "select 1;\n")
	d.expect("no connection is chosen")
	d.answer("=> ", "\\c other\n")
	d.answer("other=> ", "select 3 as three;\n")
	d.expect("three\n3\n")
	d.answer("other=> ", "quit\n")
	d.ends(0)
}
