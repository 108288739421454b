package dictionarytest

import (
	"math/rand/v2"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Habit is a way in which people write a value that they look up.
type Habit struct {
	Name string
	// Held says that no setting was chosen on this habit.
	Held bool
	// write returns what is asked for, or "" where the habit does not apply.
	write func(r *rand.Rand, c *Column, clean string) string
}

// Question asks for a value of a column.
type Question struct {
	Habit  string
	Value  string
	Column *Column
}

// Questions returns count questions of a habit, or fewer if the habit applies to few
// values.
func (w *World) Questions(h Habit, count int) []Question {
	var out []Question
	for tries := 0; len(out) < count && tries < 200*count; tries++ {
		c := w.Columns[w.random.IntN(len(w.Columns))]
		if len(c.clean) == 0 {
			continue
		}
		i := w.random.IntN(len(c.clean))
		if v := h.write(w.random, c, c.clean[i]); v != "" {
			out = append(out, Question{Habit: h.Name, Value: v, Column: c})
		}
	}
	return out
}

// Habits lists the ways.
func Habits() []Habit {
	return []Habit{
		{"as it is", false, func(_ *rand.Rand, _ *Column, v string) string { return v }},
		{"lower case", false, func(_ *rand.Rand, c *Column, v string) string { return onlyIf(c.script.cased, strings.ToLower(v)) }},
		{"upper case", true, func(_ *rand.Rand, c *Column, v string) string { return onlyIf(c.script.cased, strings.ToUpper(v)) }},
		{"without marks", false, func(_ *rand.Rand, c *Column, v string) string { return changed(v, onlyIf(c.script.cased, unmarked(v))) }},
		{"decomposed", true, func(_ *rand.Rand, _ *Column, v string) string { return changed(v, norm.NFD.String(v)) }},
		{"full width", true, func(_ *rand.Rand, c *Column, v string) string { return onlyIf(c.code, strings.Map(wide, v)) }},
		{"other dash", false, func(_ *rand.Rand, _ *Column, v string) string {
			return changed(v, strings.ReplaceAll(v, "-", "\u2014"))
		}},
		{"dash for space", true, func(_ *rand.Rand, c *Column, v string) string {
			return changed(v, onlyIf(c.code, strings.ReplaceAll(v, " ", "-")))
		}},
		{"odd spaces", false, func(_ *rand.Rand, _ *Column, v string) string {
			return changed(v, " "+strings.ReplaceAll(v, " ", "\u202f\t"))
		}},
		{"code without punctuation", false, func(_ *rand.Rand, c *Column, v string) string {
			return onlyIf(c.code, strings.NewReplacer("-", "", "/", "", ".", "", " ", "").Replace(v))
		}},
		{"code with spaces", true, func(_ *rand.Rand, c *Column, v string) string {
			return changed(v, onlyIf(c.code, strings.NewReplacer("-", " ", "/", " ", ".", " ").Replace(v)))
		}},
		{"first words", false, func(_ *rand.Rand, c *Column, v string) string { return someWords(c, v, 0, 2) }},
		{"last words", true, func(_ *rand.Rand, c *Column, v string) string { return someWords(c, v, 1, 99) }},
		{"letter missing", false, typo(func(r *rand.Rand, v []rune, i int) []rune { return append(v[:i:i], v[i+1:]...) })},
		{"letters exchanged", false, typo(func(_ *rand.Rand, v []rune, i int) []rune {
			v[i], v[i+1] = v[i+1], v[i]
			return v
		})},
		{"letter doubled", true, typo(func(_ *rand.Rand, v []rune, i int) []rune { return append(v[:i+1:i+1], v[i:]...) })},
		{"wrong letter", true, typo(func(r *rand.Rand, v []rune, i int) []rune {
			v[i] = v[r.IntN(len(v))]
			return v
		})},
		{"abbreviated form", false, func(_ *rand.Rand, c *Column, v string) string { return withForms(c, v) }},
		{"first name shortened", true, func(_ *rand.Rand, c *Column, v string) string {
			last, first, ok := strings.Cut(v, ", ")
			if !ok || c.Name != "person" || !c.script.cased {
				return ""
			}
			return last + " " + string([]rune(first)[:1]) + "."
		}},
		{"first name first", true, func(_ *rand.Rand, c *Column, v string) string {
			last, first, ok := strings.Cut(v, ", ")
			return onlyIf(ok && c.Name == "person", first+" "+last)
		}},
		{"words exchanged", false, func(_ *rand.Rand, c *Column, v string) string {
			words := strings.Fields(v)
			if c.Name != "organisation" || len(words) < 3 {
				return ""
			}
			return strings.Join(append(words[1:], words[0]), " ")
		}},
		{"word left out", true, func(_ *rand.Rand, c *Column, v string) string {
			words := strings.Fields(v)
			if c.Name != "organisation" || len(words) < 3 {
				return ""
			}
			return strings.Join(append(words[:1:1], words[2:]...), " ")
		}},
		{"and for &", true, func(_ *rand.Rand, c *Column, v string) string {
			return onlyIf(strings.Contains(v, " & "), strings.ReplaceAll(v, "&", "and"))
		}},
		{"word added", false, func(_ *rand.Rand, c *Column, v string) string {
			return onlyIf(c.Name == "company" && c.script.name == "english", "the "+v+" group")
		}},
		{"initials", true, func(_ *rand.Rand, c *Column, v string) string {
			words := strings.Fields(v)
			if c.Name != "organisation" || !c.script.cased || len(words) < 4 {
				return ""
			}
			var out strings.Builder
			for _, w := range words {
				out.WriteRune([]rune(w)[0])
			}
			return out.String()
		}},
		{"umlauts written out", true, func(_ *rand.Rand, c *Column, v string) string {
			return changed(v, onlyIf(c.script.name == "german" && len([]rune(v)) > 8 && strings.Count(v, "ä")+strings.Count(v, "ö")+strings.Count(v, "ü") == 1, strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue").Replace(v)))
		}},

		// The habits below were added when the search was finished, and measured once before
		// it learned of them.
		{"digits of another script", false, func(r *rand.Rand, c *Column, v string) string {
			zero := []rune{'٠', '۰', '०', '০', '௦'}[r.IntN(5)]
			return changed(v, onlyIf(c.code, strings.Map(func(r rune) rune {
				if '0' <= r && r <= '9' {
					return zero + r - '0'
				}
				return r
			}, v)))
		}},
		{"other apostrophe", false, func(r *rand.Rand, _ *Column, v string) string {
			return changed(v, strings.ReplaceAll(v, "'", []string{"\u2019", "\u02bc", "`", "\u2032"}[r.IntN(4)]))
		}},
		{"in quotes", false, func(r *rand.Rand, _ *Column, v string) string {
			return [][2]string{{`"`, `"`}, {"\u201c", "\u201d"}, {"'", "'"}, {"\u00ab", "\u00bb"}}[r.IntN(4)][0] + v + [][2]string{{`"`, `"`}, {"\u201c", "\u201d"}}[r.IntN(2)][1]
		}},
		{"stop behind", false, func(r *rand.Rand, _ *Column, v string) string {
			return v + []string{".", ",", "?", "!", ";"}[r.IntN(5)]
		}},
		{"underscores", false, func(_ *rand.Rand, c *Column, v string) string {
			return changed(v, onlyIf(c.Name == "organisation", strings.ReplaceAll(v, " ", "_")))
		}},
		{"written together", false, func(_ *rand.Rand, c *Column, v string) string {
			return changed(v, onlyIf(c.Name == "organisation", strings.ReplaceAll(v, " ", "")))
		}},
		{"letters of Arabic for Persian", false, func(_ *rand.Rand, _ *Column, v string) string {
			return changed(v, strings.NewReplacer("ی", "ي", "ک", "ك", "ہ", "ه").Replace(v))
		}},
		{"other kana", false, func(_ *rand.Rand, _ *Column, v string) string {
			return changed(v, strings.Map(func(r rune) rune {
				if 'ぁ' <= r && r <= 'ゖ' {
					return r + 'ァ' - 'ぁ'
				}
				return r
			}, v))
		}},
		{"lengthened", false, func(_ *rand.Rand, c *Column, v string) string {
			letters := []rune(v)
			return onlyIf(c.script.name == "arabic" && len(letters) > 4, string(letters[:2])+"ــ"+string(letters[2:]))
		}},
	}
}

func onlyIf(condition bool, v string) string {
	if condition {
		return v
	}
	return ""
}

// changed returns v if it differs from before.
func changed(before, v string) string { return onlyIf(v != before, v) }

// unmarked returns what a keyboard without marks gives.
func unmarked(v string) string {
	plain := strings.NewReplacer("ł", "l", "Ł", "L", "ø", "o", "Ø", "O", "ß", "ss", "ı", "i", "æ", "ae", "ð", "d", "þ", "th", "œ", "oe").Replace(v)
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(plain))
}

// wide returns the full-width form of a character of ASCII.
func wide(r rune) rune {
	if '!' <= r && r <= '~' {
		return r - '!' + '\uff01'
	}
	return r
}

func someWords(c *Column, v string, from, to int) string {
	words := strings.Fields(v)
	if c.Name != "organisation" || c.script.space == "" {
		return ""
	}
	return strings.Join(words[from:min(to, len(words))], " ")
}

// withForms abbreviates the last word of a name.
func withForms(c *Column, v string) string {
	for _, f := range c.script.forms {
		if before, ok := strings.CutSuffix(v, f[0]); ok && c.Name == "company" {
			return before + f[1]
		}
	}
	return ""
}

// typo changes a letter of a longer text, except the first.
func typo(change func(r *rand.Rand, v []rune, i int) []rune) func(*rand.Rand, *Column, string) string {
	return func(r *rand.Rand, c *Column, v string) string {
		letters := []rune(v)
		if len(letters) < 6 || c.code {
			return ""
		}
		i := 1 + r.IntN(len(letters)-2)
		if !unicode.IsLetter(letters[i]) || !unicode.IsLetter(letters[i+1]) {
			return ""
		}
		return changed(v, string(change(r, letters, i)))
	}
}
