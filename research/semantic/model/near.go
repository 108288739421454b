package model

import "strings"

// maxNear is how many near names a message has.
const maxNear = 3

// didYouMean writes near names as a hint; empty if there are none.
func didYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(near, ", ") + "?"
}
