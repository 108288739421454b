package model

import (
	"fmt"
	"strings"
)

// ReadBoth reads a text as the subset of YAML and as all of YAML, and writes both trees.
// Known is false if the text is not of the subset.
func ReadBoth(text string) (subset, library string, known bool, err error) {
	quick := readSubset(text)
	if quick == nil {
		return "", "", false, nil
	}
	all, line, err := parseAny([]byte(text))
	if err == nil && (all == nil || line != int(all.line)) {
		err = fmt.Errorf("line %d of %v", line, all)
	}
	if err != nil {
		return written(quick), "", true, err
	}
	return written(quick), written(all), true, nil
}

func written(n *node) string {
	var b strings.Builder
	var write func(n *node, depth int)
	write = func(n *node, depth int) {
		fmt.Fprintf(&b, "%s%d %d %t line %d %q\n", strings.Repeat(" ", depth), n.kind, n.tag, n.flow, n.line, n.text)
		for i := range n.items {
			write(&n.items[i], depth+1)
		}
	}
	write(n, 0)
	return b.String()
}
