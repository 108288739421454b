package dictionarytest

import "github.com/ktxhq/ktx/research/dictionary"

// Figures say how well the questions of a habit were answered.
type Figures struct {
	Habit            string
	Held             bool
	Asked            int
	Found            int        // the right column is among the matches
	First            int        // the first match is of the right column
	Missed, NotFirst []Question // some of those that were not
}

// Measure asks count questions of each habit.
func Measure(w *World, count int, sets ...*dictionary.Set) []Figures {
	var out []Figures
	for _, h := range Habits() {
		f := Figures{Habit: h.Name, Held: h.Held}
		for _, q := range w.Questions(h, count) {
			f.Asked++
			found, first := false, false
			for i, m := range dictionary.Search([]string{q.Value}, sets...)[0].Matches {
				if m.TableRef == q.Column.Table && m.ColumnName == q.Column.Name {
					found = true
					first = first || i == 0
				}
			}
			switch {
			case !found:
				f.Missed = append(f.Missed, q)
			case !first:
				f.NotFirst = append(f.NotFirst, q)
			}
			f.Found += one(found)
			f.First += one(first)
		}
		out = append(out, f)
	}
	return out
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
