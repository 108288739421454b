// Command teesql says what the parser teesql sees in texts of T-SQL. Each line
// of its input is a text as a JSON string; each line of its output is one answer.
// The parser can loop forever, so that who asks watches the clock.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/sqlc-dev/teesql/parser"
)

// answer is what the tree of a text holds.
type answer struct {
	Error      string   // why there is no tree
	Statements []string // the kinds of the statements at any depth, in order
	Kinds      []string // the kinds of all nodes, sorted
	Into       bool     // some query has INTO
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var sql string
		if err := json.Unmarshal(in.Bytes(), &sql); err != nil {
			log.Fatal(err)
		}
		if err := out.Encode(read(sql)); err != nil {
			log.Fatal(err)
		}
	}
	if err := in.Err(); err != nil {
		log.Fatal(err)
	}
}

func read(sql string) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a = answer{Error: fmt.Sprint("panic: ", r)}
		}
	}()
	script, err := parser.Parse(context.Background(), strings.NewReader(sql))
	if err != nil {
		return answer{Error: err.Error()}
	}
	text, err := parser.MarshalScript(script)
	if err != nil {
		return answer{Error: err.Error()}
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return answer{Error: err.Error()}
	}
	kinds := make(map[string]bool)
	walk(tree, func(node map[string]any) {
		if kind, ok := node["$type"].(string); ok {
			kinds[kind] = true
			if strings.HasSuffix(kind, "Statement") {
				a.Statements = append(a.Statements, kind)
			}
		}
		a.Into = a.Into || node["Into"] != nil
	})
	a.Kinds = slices.Sorted(maps.Keys(kinds))
	return a
}

// walk calls see for every object of a tree, the keys of each in order.
func walk(tree any, see func(map[string]any)) {
	switch tree := tree.(type) {
	case map[string]any:
		see(tree)
		for _, key := range slices.Sorted(maps.Keys(tree)) {
			walk(tree[key], see)
		}
	case []any:
		for _, element := range tree {
			walk(element, see)
		}
	}
}
