package wiki_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research/rank/packed"
	"github.com/ktxhq/ktx/research/wiki"
)

var update = flag.Bool("update", false, "write thesaurus.txt.gz anew")

// TestListsArePacked: the lists of the program are those that people read, without their
// comments.
func TestListsArePacked(t *testing.T) {
	var text strings.Builder
	for _, name := range []string{"thesaurus.txt", "everyday.txt", "spoken.txt", "trades.txt"} {
		list, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("\n")
		for line := range strings.Lines(string(list)) {
			if !strings.HasPrefix(line, "#") {
				text.WriteString(line)
			}
		}
	}
	if *update {
		file, err := packed.Pack([]byte(text.String()))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("thesaurus.txt.gz", file, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if wiki.Thesaurus() != text.String() {
		t.Error("thesaurus.txt.gz differs from the lists: go test ./research/wiki -run TestListsArePacked -update")
	}
}
