package mysql_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/mysql"
)

// nativeList is the list of one release.
type nativeList struct {
	product, version string
	names            []string
}

// nativeLists reads testdata/native_functions.txt.
func nativeLists(t *testing.T) []nativeList {
	t.Helper()
	text, err := os.ReadFile("testdata/native_functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	var lists []nativeList
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "mysql" || words[0] == "mariadb":
			lists = append(lists, nativeList{product: words[0], version: words[1]})
		default:
			l := &lists[len(lists)-1]
			if (words[0] == "-" || words[0] == "+") && len(l.names) == 0 {
				l.names = slices.Clone(lists[len(lists)-2].names)
			}
			switch words[0] {
			case "-":
				l.names = slices.DeleteFunc(l.names, func(name string) bool { return slices.Contains(words, name) })
			case "+":
				l.names = append(l.names, words[1:]...)
			default:
				l.names = append(l.names, words...)
			}
		}
	}
	return lists
}

// TestNativeFunctions checks the tables against the list of functions of each release. The
// tables must have every function of the list. They must not treat any other name as a
// function that could be called in quotes.
func TestNativeFunctions(t *testing.T) {
	t.Parallel()
	lists := nativeLists(t)
	if len(lists) != 3 || len(lists[0].names) < 280 || len(lists[2].names) < 380 {
		t.Fatalf("there are %d lists, or they are too short", len(lists))
	}
	byPlugin := []string{ // MariaDB's plugins of kind FUNCTION, which every build has
		"inet6_aton", "inet6_ntoa", "inet_aton", "inet_ntoa", "is_ipv4", "is_ipv4_compat", "is_ipv4_mapped", "is_ipv6", "sys_guid", "uuid",
		"uuid_v4", "uuid_v7",
	}
	for _, l := range lists {
		d := server(t, l.product, l.version)
		for _, name := range l.names {
			if _, builtin := mysql.FunctionRuling(d, "", name, 2); !builtin {
				t.Errorf("%s %s has the function %s, and the tables do not have it for this release", l.product, l.version, name)
			}
		}
		for _, name := range mysql.FunctionNames() {
			ruling, _ := mysql.FunctionRuling(d, "", name, 2)
			if ruling.Allowed && !mysql.WordOnly(name) && !slices.Contains(l.names, name) && (l.product != "mariadb" || !slices.Contains(byPlugin, name)) {
				t.Errorf("%s %s has no function %s that could be called in quotes", l.product, l.version, name)
			}
		}
	}
}
