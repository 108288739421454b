package corpus_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/corpus"
)

// index lists the cases that must or may be refused, by code and by class.
func index(cases []corpus.Case) []byte {
	var b bytes.Buffer
	b.WriteString(`# Index

Written by a test from the class files. An ID without its first part is that of a
case to refuse, or one that depends on policy (P); its benign twin has a B behind
it. README.md counts the cases.

## Codes

Where a code is the best one that explains a refusal.

| code | cases |
|---|---|
`)
	byCode := map[string][]string{}
	var codes []string
	for _, c := range cases {
		if len(c.Codes) > 0 {
			if len(byCode[c.Codes[0]]) == 0 {
				codes = append(codes, c.Codes[0])
			}
			byCode[c.Codes[0]] = append(byCode[c.Codes[0]], c.ID)
		}
	}
	for _, code := range slices.Sorted(slices.Values(codes)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", code, strings.Join(ranges(byCode[code]), ", "))
	}
	b.WriteString(`
## Cases

"Stopped" says whether a read-only transaction alone stops the effect. "Seen on" are
the engines that ran the case; SQL Server's cases rest on documents.
`)
	for i, c := range cases {
		if c.Expect == corpus.Allow {
			continue
		}
		if i == 0 || cases[i-1].Dialect != c.Dialect || cases[i-1].Class != c.Class {
			fmt.Fprintf(&b, "\n### %s: %s\n\n| case | title | effect | stopped | seen on |\n|---|---|---|---|---|\n", c.Dialect, c.Class)
		}
		effect, stopped, mark := "", "", ""
		if c.Effect != nil {
			effect = c.Effect.Kind
			if contained := c.Effect.ContainedByReadOnlyTx; contained != nil && *contained {
				stopped = "yes"
			} else if contained != nil {
				stopped = "no"
			}
		}
		if c.Expect == corpus.Policy {
			mark = " P"
		}
		fmt.Fprintf(&b, "| %s%s | %s | %s | %s | %s |\n", strings.TrimPrefix(c.ID, "KTX-"), mark, cell(c.Title), effect, stopped, strings.Join(seenOn(c), ", "))
	}
	return b.Bytes()
}

// cell returns a title for a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`).Replace(text)
}

// ranges shortens a sorted list of IDs: PG-FN-0001–0003.
func ranges(ids []string) []string {
	var list []string
	first, last := "", 0
	for _, id := range ids {
		stem, number := strings.TrimPrefix(id[:len(id)-4], "KTX-"), id[len(id)-4:]
		n := 0
		if _, err := fmt.Sscanf(number, "%d", &n); err != nil {
			list = append(list, id)
			continue
		}
		if stem == first && n == last+1 {
			open, _, _ := strings.Cut(list[len(list)-1], "–")
			list[len(list)-1] = open + "–" + number
		} else {
			list = append(list, stem+number)
		}
		first, last = stem, n
	}
	return list
}

// seenOn returns the engines and versions that ran a case.
func seenOn(c corpus.Case) []string {
	var list []string
	for _, e := range c.Evidence {
		if name := e.Engine + " " + e.Version; e.Engine != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}
