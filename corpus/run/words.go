package run

import (
	"errors"
	"strings"
)

// SplitWords splits a command line into a program and its arguments, without a
// shell. Spaces and tabs separate words. Text in 'single' or "double" quotes is
// one word. In double quotes, a backslash before " or \ stands for that
// character. All other characters stand for themselves: there are no variables,
// patterns, pipes or redirections.
func SplitWords(line string) ([]string, error) {
	var (
		words []string
		word  strings.Builder
		begun bool
	)
	for i := 0; i < len(line); i++ {
		switch ch := line[i]; ch {
		case ' ', '\t', '\n', '\r':
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		case '\'', '"':
			begun = true
			end, err := quotedWord(&word, line, i)
			if err != nil {
				return nil, err
			}
			i = end
		default:
			begun = true
			word.WriteByte(ch)
		}
	}
	if begun {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("no command is named")
	}
	return words, nil
}

// quotedWord writes the text inside the quotes that open at line[at]. It
// returns the offset of the closing quote.
func quotedWord(word *strings.Builder, line string, at int) (int, error) {
	quote := line[at]
	for i := at + 1; i < len(line); i++ {
		switch {
		case line[i] == quote:
			return i, nil
		case quote == '"' && line[i] == '\\' && i+1 < len(line) && (line[i+1] == '"' || line[i+1] == '\\'):
			i++
			word.WriteByte(line[i])
		default:
			word.WriteByte(line[i])
		}
	}
	return 0, errors.New("a quote is not closed")
}
