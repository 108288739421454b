package cli_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

// docs/mcp.md says how many tokens a hundred orders of the demo are.
func TestTokensOfRows(t *testing.T) {
	t.Parallel()
	p := run(t, shop(t), "sql", "--json", "SELECT * FROM orders LIMIT 100")
	text, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	p.ends(t, 0)
	answer := strings.Replace(text, `"schema":"ktx-rows/1",`, "", 1) // which MCP does not have
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	n, err := codec.Count(answer)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	rounded := (n + 50) / 100 * 100
	if want := fmt.Sprintf("are %d,%03d tokens (o200k_base)", rounded/1000, rounded%1000); !strings.Contains(string(page), want) {
		t.Errorf("%d tokens; docs/mcp.md does not say %q", n, want)
	}
}
