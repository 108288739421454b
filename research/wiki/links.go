package wiki

import (
	"iter"
	"strings"
)

// A link is a reference [[key]] in the text of a page.
type link struct {
	key    string // as written, without the text that is shown
	offset int    // of [[ in the body
	line   int    // in the body, from 1
}

// maxLinks is how many links of a page are read.
const maxLinks = 1000

// links returns the links of a body outside of code. [[key|text]] shows text for
// the link, and [[key#part]] leads to a part of the page.
func links(body string) iter.Seq[link] {
	return func(yield func(link) bool) {
		n := 0
		for l := range lines(body) {
			if l.code {
				continue
			}
			text := withoutCode(l.text)
			for at := 0; ; {
				i := strings.Index(text[at:], "[[")
				if i < 0 {
					break
				}
				start := at + i
				length := strings.Index(text[start:], "]]")
				if length < 0 {
					break
				}
				key := text[start+2 : start+length]
				if nested := strings.LastIndex(key, "[["); nested >= 0 {
					start, key = start+2+nested, key[nested+2:]
				}
				at = start + 2 + len(key) + 2
				key, _, _ = strings.Cut(key, "|")
				key, _, _ = strings.Cut(key, "#")
				if n++; n > maxLinks || !yield(link{strings.TrimSpace(key), l.start + start, l.number}) {
					return
				}
			}
		}
	}
}

// withoutCode returns a line with the code between backquotes replaced by spaces.
func withoutCode(text string) string {
	if !strings.Contains(text, "`") {
		return text
	}
	b := []byte(text)
	for i := 0; i < len(b); {
		if b[i] != '`' {
			i++
			continue
		}
		n := 1
		for i+n < len(b) && b[i+n] == '`' {
			n++
		}
		end := closing(b[i+n:], n)
		if end < 0 {
			i += n
			continue
		}
		for j := i; j < i+n+end+n; j++ {
			b[j] = ' '
		}
		i += n + end + n
	}
	return string(b)
}

// closing returns the offset of the first run of exactly n backquotes, or -1.
func closing(b []byte, n int) int {
	for i := 0; i < len(b); {
		if b[i] != '`' {
			i++
			continue
		}
		run := 1
		for i+run < len(b) && b[i+run] == '`' {
			run++
		}
		if run == n {
			return i
		}
		i += run
	}
	return -1
}
