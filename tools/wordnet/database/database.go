// Package database reads WordNet 3.0 for the tools that make tables of it.
package database

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// checksum is that of the files of Debian's package wordnet-base 1:3.0-37, which is
// WordNet 3.0. The formats are those of the manual pages wndb(5WN) and cntlist(5WN).
const checksum = "c246562cbea5cb341de948d98d6b2957f484346463b777e0bdf99c502a867659"

// ErrOther is about files that are not those of the checksum.
var ErrOther = errors.New("the files are not those of Debian's wordnet-base 1:3.0-37")

// partsOfSpeech are the endings of the database's files.
var partsOfSpeech = []string{"noun", "verb", "adj", "adv"}

// A Database is the words and meanings of WordNet.
type Database struct {
	Licence    string
	Meanings   map[string]*Meaning // by part of speech and offset
	Words      map[string]*Word
	exceptions map[string][]string // irregular forms, with their base forms
}

// A Meaning is a synset: words that mean the same.
type Meaning struct {
	Words   []string
	Related []string // other meanings
	Gloss   string
}

// A Word is a lemma of one or more parts of speech.
type Word struct {
	Meanings []string
	Shares   []float64 // of the uses of the word, by meaning
	Uses     int       // in the texts in which the authors of WordNet counted
}

// relations are the pointers that count: hypernym, hyponym, derivation, similar, see
// also, group of verbs, pertainym.
var relations = []string{"@", "~", "+", "&", "^", "$", "\\"}

// Read reads a database from its folder. The error is ErrOther when the files are not
// those of the checksum.
func Read(dir fs.FS) (*Database, error) {
	names := []string{"cntlist.rev"}
	for _, part := range partsOfSpeech {
		names = append(names, "data."+part, "index."+part, part+".exc")
	}
	sum, texts := sha256.New(), map[string]string{}
	for _, name := range names {
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		sum.Write(text)
		texts[name] = string(text)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != checksum {
		return nil, fmt.Errorf("%w: they have the checksum %s", ErrOther, got)
	}
	d := &Database{Meanings: map[string]*Meaning{}, Words: map[string]*Word{}, exceptions: map[string][]string{}}
	counts := map[string]int{} // by word, part of speech and number of the meaning
	for line := range strings.Lines(texts["cntlist.rev"]) {
		count(counts, line)
	}
	for _, part := range partsOfSpeech {
		d.Licence = ""
		for line := range strings.Lines(texts["data."+part]) {
			d.addMeaning(line)
		}
		for line := range strings.Lines(texts["index."+part]) {
			d.addWord(counts, line)
		}
		for line := range strings.Lines(texts[part+".exc"]) {
			forms := strings.Fields(line)
			d.exceptions[forms[0]] = append(d.exceptions[forms[0]], forms[1:]...)
		}
	}
	return d, nil
}

// count reads a line of cntlist.rev: how often a meaning of a word was met.
func count(counts map[string]int, line string) {
	fields := strings.Fields(line) // sense key, number of the meaning, uses
	lemma, sense, _ := strings.Cut(fields[0], "%")
	letter := map[byte]string{'1': "n", '2': "v", '3': "a", '4': "r", '5': "a"}[sense[0]]
	n, _ := strconv.Atoi(fields[2])
	counts[lemma+" "+letter+" "+fields[1]] += n
}

// comment reports whether a line belongs to the licence before the data.
func comment(line string) bool { return strings.HasPrefix(line, "  ") }

// addMeaning reads a line of a data file.
func (d *Database) addMeaning(line string) {
	if comment(line) {
		_, text, _ := strings.Cut(strings.TrimSpace(line), " ") // each line has its number
		d.Licence += text + "\n"
		return
	}
	head, gloss, _ := strings.Cut(line, " | ")
	fields := strings.Fields(head)
	m := &Meaning{Gloss: gloss}
	d.Meanings[letter(fields[2])+fields[0]] = m
	words, _ := strconv.ParseUint(fields[3], 16, 16)
	fields = fields[4:]
	for range words {
		name, _, _ := strings.Cut(fields[0], "(") // the position of an adjective
		m.Words = append(m.Words, strings.ToLower(name))
		fields = fields[2:]
	}
	pointers, _ := strconv.Atoi(fields[0])
	fields = fields[1:]
	for range pointers {
		if slices.Contains(relations, fields[0]) {
			m.Related = append(m.Related, letter(fields[2])+fields[1])
		}
		fields = fields[4:]
	}
	slices.Sort(m.Related)
	m.Related = slices.Compact(m.Related)
}

// letter is that of a part of speech. Satellites of adjectives are adjectives.
func letter(part string) string {
	if part == "s" {
		return "a"
	}
	return part
}

// addWord reads a line of an index file. A meaning that was never met counts as a
// fraction of a use, the smaller the later it is in the list.
func (d *Database) addWord(counts map[string]int, line string) {
	if comment(line) {
		return
	}
	fields := strings.Fields(line)
	lemma, part := fields[0], fields[1]
	w := d.Words[lemma]
	if w == nil {
		w = &Word{}
		d.Words[lemma] = w
	}
	pointers, _ := strconv.Atoi(fields[3])
	for i, offset := range fields[6+pointers:] {
		n := counts[fmt.Sprintf("%s %s %d", lemma, part, i+1)]
		w.Meanings = append(w.Meanings, part+offset)
		w.Shares = append(w.Shares, float64(n)+0.5/float64(i+1))
		w.Uses += n
	}
}

// Share is which part of the uses of a word has a meaning.
func (d *Database) Share(name, id string) float64 {
	w := d.Words[name]
	if w == nil {
		return 0
	}
	sum := 0.0
	for _, s := range w.Shares {
		sum += s
	}
	if i := slices.Index(w.Meanings, id); i >= 0 {
		return w.Shares[i] / sum
	}
	return 0
}

// inflections are endings, and what stands in their place in the base form.
var inflections = []struct{ ending, base string }{
	{"s", ""},
	{"ses", "s"},
	{"xes", "x"},
	{"zes", "z"},
	{"ches", "ch"},
	{"shes", "sh"},
	{"ies", "y"},
	{"es", "e"},
	{"es", ""},
	{"ed", "e"},
	{"ed", ""},
	{"ied", "y"},
	{"ing", "e"},
	{"ing", ""},
	{"er", ""},
	{"est", ""},
	{"er", "e"},
	{"est", "e"},
}

// Lemmas returns the words of which a form may be an inflection.
func (d *Database) Lemmas(form string) []string {
	var out []string
	add := func(name string) {
		if d.Words[name] != nil && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	add(form)
	for _, base := range d.exceptions[form] {
		add(base)
	}
	for _, i := range inflections {
		stem, ok := strings.CutSuffix(form, i.ending)
		if !ok || len(stem) < 2 {
			continue
		}
		add(stem + i.base)
		if n := len(stem); i.base == "" && n > 3 && stem[n-1] == stem[n-2] { // stopped
			add(stem[:n-1])
		}
	}
	return out
}

// Explained counts, for each word, the meanings whose gloss has it in any of its forms.
func (d *Database) Explained() map[string]int {
	out := map[string]int{}
	for _, m := range d.Meanings {
		seen := map[string]bool{}
		for form := range strings.FieldsFuncSeq(strings.ToLower(m.Gloss), func(r rune) bool { return r < 'a' || r > 'z' }) {
			for _, name := range d.Lemmas(form) {
				if !seen[name] {
					seen[name] = true
					out[name]++
				}
			}
		}
	}
	return out
}
