// Command skills measures how well skills are found for a task. It reads the SKILL.md
// files of public collections below a folder, which are no part of this repository:
//
//	go run ./tools/eval/skills -data DIR
//
// A question is written by rule from a part of a skill that is then taken out of it: the
// sentence of the description that begins with "Use", or the first item of the section of
// the body about when to use the skill. Words of the skill's name are left out, so that a
// question names the task and not the skill.
//
// No model can run where this runs. The stand-in makes vectors of the words that
// occur together in the collection. The hinted stand-in moves the vector of a question
// towards that of the right skill, as a better model would have it nearer. They show what
// fusing does with weak and with good vectors, not how good a model is.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/skills"
	"github.com/ktxhq/ktx/research/skills/litestore"
)

func main() {
	data := flag.String("data", "", "a folder with collections of skills")
	misses := flag.Bool("misses", false, "print the questions of the chosen half that text does not answer")
	flag.Parse()
	if err := run(context.Background(), *data, *misses); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "skills:", err)
		os.Exit(1)
	}
}

// within is how many skills an answer has.
const within = 5

// A question asks for one skill. Weights are chosen on the questions about one half of the
// skills, which a hash of the name decides, and the figures of the others are held out.
type question struct {
	from  string // description or body
	text  string
	skill string
}

func (q question) held() bool { return sha256.Sum256([]byte(q.skill))[0]%2 == 1 }

func run(ctx context.Context, data string, misses bool) error {
	if data == "" {
		return errors.New("-data is missing: name a folder with collections of skills")
	}
	dir, err := os.MkdirTemp("", "ktx-eval-skills-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	questions, files, err := collect(data, filepath.Join(dir, "skills"))
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	catalog := skills.NewCatalog(skills.CatalogOptions{Sources: []skills.Source{{Name: "skills", Root: root, Folder: "skills"}}, Analyzer: rank.NewAnalyzer(nil), Now: time.Now})
	snapshot, err := catalog.Snapshot()
	if err != nil {
		return err
	}
	questions = slices.DeleteFunc(questions, func(q question) bool { return snapshot.Skill(q.skill) == nil })
	model, err := newStandIn(snapshot)
	if err != nil {
		return err
	}
	state := litestore.New(filepath.Join(dir, "state.db"))
	defer func() { _ = state.Close() }()
	text := skills.NewStore(skills.Options{Catalog: catalog, State: state})
	fused := skills.NewStore(skills.Options{Catalog: catalog, State: state, Embedder: model})
	hinted, err := newHinted(model, snapshot, questions)
	if err != nil {
		return err
	}
	helped := skills.NewStore(skills.Options{Catalog: catalog, State: state, Embedder: hinted})
	if _, err := fused.Backfill(ctx, false, func(int) {}, func(int) {}); err != nil {
		return err
	}
	ways := []struct {
		name string
		find func(string) ([]string, error)
	}{
		{"text", func(q string) ([]string, error) { return search(ctx, text, q) }},
		{"stand-in", func(q string) ([]string, error) { return nearest(ctx, state, model, snapshot, q) }},
		{"text and stand-in", func(q string) ([]string, error) { return search(ctx, fused, q) }},
		{"hinted stand-in", func(q string) ([]string, error) { return nearest(ctx, state, hinted, snapshot, q) }},
		{"text and hinted stand-in", func(q string) ([]string, error) { return search(ctx, helped, q) }},
	}
	_, _ = fmt.Fprintf(os.Stdout, "%d SKILL.md files, %d skills with different names, %d of them published, %d questions\n\n", files.read, files.kept, len(snapshot.Skills()), len(questions))
	_, _ = fmt.Fprintln(os.Stdout, "| questions from | half | questions | found by | recall@1 | recall@5 | MRR |\n|---|---|---:|---|---:|---:|---:|")
	for _, held := range []bool{false, true} {
		for _, from := range []string{"description", "body"} {
			part := slices.DeleteFunc(slices.Clone(questions), func(q question) bool { return q.from != from || q.held() != held })
			for _, way := range ways {
				list := os.Stderr
				if !misses || held || way.name != "text" {
					list = nil
				}
				f, err := measure(part, way.find, list)
				if err != nil {
					return err
				}
				half := map[bool]string{false: "chosen on", true: "held out"}[held]
				_, _ = fmt.Fprintf(os.Stdout, "| %s | %s | %d | %s | %.3f | %.3f | %.3f |\n", from, half, len(part), way.name, f.first, f.found, f.mrr)
			}
		}
	}
	return nil
}

// figures are means over questions.
type figures struct{ first, found, mrr float64 }

// measure asks questions. It writes those that are not answered to misses, unless that is
// nil.
func measure(questions []question, find func(string) ([]string, error), misses *os.File) (figures, error) {
	var f figures
	for _, q := range questions {
		list, err := find(q.text)
		if err != nil {
			return f, err
		}
		at := slices.Index(list, q.skill)
		if at == 0 {
			f.first++
		}
		if at >= 0 {
			f.found++
			f.mrr += 1 / float64(at+1)
		} else if misses != nil {
			_, _ = fmt.Fprintf(misses, "%s: %s\n\t%v\n", q.skill, q.text, list)
		}
	}
	n := float64(max(len(questions), 1))
	return figures{f.first / n, f.found / n, f.mrr / n}, nil
}

func search(ctx context.Context, s *skills.Store, query string) ([]string, error) {
	f, err := s.Search(ctx, query, skills.Filter{}, within)
	var names []string
	for _, h := range f.Hits {
		names = append(names, h.Skill.Name)
	}
	return names, err
}

func nearest(ctx context.Context, state skills.State, e skills.Embedder, snapshot *skills.Snapshot, query string) ([]string, error) {
	v, err := e.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	near, err := state.Nearest(ctx, e.Model(), v, within)
	var names []string
	for _, n := range near {
		if k := snapshot.Text(n.Text); k != nil {
			names = append(names, k.Name)
		}
	}
	return names, err
}

// counts says how many files were read, and how many skills they are.
type counts struct{ read, kept int }

// collect copies the skills of all collections into one folder, without the parts that
// become questions. Of skills with one name, the first counts.
func collect(data, to string) (questions []question, n counts, err error) {
	seen := map[string]bool{}
	err = filepath.WalkDir(data, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() != skills.Main {
			return err
		}
		n.read++
		text, err := os.ReadFile(path) //nolint:gosec // the caller names the folder
		if err != nil {
			return err
		}
		name, description, body, ok := divide(string(text))
		if !ok || !skills.ValidName(name) || seen[name] {
			return nil
		}
		seen[name] = true
		n.kept++
		if q, rest, ok := useSentence(description); ok {
			if q = without(q, name); enough(q) {
				questions, description = append(questions, question{"description", q, name}), rest
			}
		}
		if q, rest, ok := useSection(body); ok {
			if q = without(q, name); enough(q) {
				questions, body = append(questions, question{"body", q, name}), rest
			}
		}
		head, err := yaml.Marshal(map[string]string{"name": name, "description": description})
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(to, name), 0o700); err != nil { //nolint:gosec // the name of a skill has no slash
			return err
		}
		return os.WriteFile(filepath.Join(to, name, skills.Main), []byte("---\n"+string(head)+"---\n"+body), 0o600) //nolint:gosec // as above
	})
	return questions, n, err
}

// divide reads the two keys of a head that count, and the body.
func divide(text string) (name, description, body string, ok bool) {
	rest, found := strings.CutPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "---\n")
	head, body, more := strings.Cut(rest, "\n---\n")
	var keys struct{ Name, Description string }
	if !found || !more || yaml.Unmarshal([]byte(head), &keys) != nil {
		return "", "", "", false
	}
	return keys.Name, strings.Join(strings.Fields(keys.Description), " "), body, keys.Description != ""
}

var use = regexp.MustCompile(`(?i)(?:^|[.!;] )((?:use|apply|invoke|activate|trigger)s?\b[^.!]*?\b(?:when(?:ever)?|for|to|if)\b ([^.!]+)[.!]?)`)

// useSentence takes the sentence about when to use a skill out of a description.
func useSentence(description string) (query, rest string, ok bool) {
	at := use.FindStringSubmatchIndex(description)
	if at == nil {
		return "", "", false
	}
	rest = strings.TrimSpace(description[:at[2]] + description[at[3]:])
	return description[at[4]:at[5]], rest, len(strings.Fields(rest)) >= 5
}

var section = regexp.MustCompile(`(?im)^#{1,4} .*(?:when to (?:use|apply)|use cases|use this|triggers).*$`)

var item = regexp.MustCompile(`(?m)^(?:[-*]|\d+\.) +(.+)$`)

// useSection takes the section about when to use a skill out of a body.
func useSection(body string) (query, rest string, ok bool) {
	at := section.FindStringIndex(body)
	if at == nil {
		return "", "", false
	}
	end := len(body)
	if next := regexp.MustCompile(`(?m)^#{1,4} `).FindStringIndex(body[at[1]:]); next != nil {
		end = at[1] + next[0]
	}
	found := item.FindStringSubmatch(body[at[1]:end])
	if found == nil {
		return "", "", false
	}
	return strings.NewReplacer("*", "", "`", "", "_", " ").Replace(found[1]), body[:at[0]] + body[end:], true
}

var word = regexp.MustCompile(`[\pL\pN]+`)

// without takes the words of a name out of a text.
func without(text, name string) string {
	words := strings.Split(name, "-")
	return strings.Join(strings.Fields(word.ReplaceAllStringFunc(text, func(w string) string {
		if slices.Contains(words, strings.ToLower(w)) || slices.Contains(words, strings.TrimSuffix(strings.ToLower(w), "s")) {
			return ""
		}
		return w
	})), " ")
}

// enough reports whether a question has four words.
func enough(query string) bool { return len(word.FindAllString(query, -1)) >= 4 }

// standIn makes vectors by random indexing: a word is the sum of the random vectors of the
// skills that have it, and a text is the sum of its words, rare ones more.
type standIn struct {
	words map[string][]float32
	idf   map[string]float64
}

func newStandIn(snapshot *skills.Snapshot) (*standIn, error) {
	s := &standIn{words: map[string][]float32{}, idf: map[string]float64{}}
	for _, k := range snapshot.Skills() {
		text, err := snapshot.Document(k)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256([]byte(k.Name))
		source := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), 1)) //nolint:gosec // the vectors are the same each time
		mark := make([]float32, s.Model().Dimensions)
		for range 20 {
			mark[source.IntN(len(mark))] = float32(2*source.IntN(2) - 1)
		}
		for _, w := range slices.Sorted(maps.Keys(terms(text))) {
			if s.words[w] == nil {
				s.words[w] = make([]float32, len(mark))
			}
			s.idf[w]++
			for i, x := range mark {
				s.words[w][i] += x
			}
		}
	}
	for w, n := range s.idf {
		s.idf[w] = math.Log(float64(len(snapshot.Skills())+1) / n)
	}
	return s, nil
}

// terms returns the words of a text, without their endings.
func terms(text string) map[string]float64 {
	out := map[string]float64{}
	for _, w := range word.FindAllString(strings.ToLower(text), -1) {
		if len(w) > 6 {
			w = w[:6]
		}
		out[w]++
	}
	return out
}

// Model implements skills.Embedder.
func (s *standIn) Model() skills.Model { return skills.Model{Name: "stand-in", Dimensions: 768} }

func (s *standIn) vector(text string) []float32 {
	out := make([]float32, s.Model().Dimensions)
	out[0] = 1e-6 // a text of unknown words has a direction
	counted := terms(text)
	for _, w := range slices.Sorted(maps.Keys(counted)) {
		norm := 0.0
		for _, x := range s.words[w] {
			norm += float64(x) * float64(x)
		}
		if norm == 0 {
			continue
		}
		weight := (1 + math.Log(counted[w])) * s.idf[w] / math.Sqrt(norm)
		for i, x := range s.words[w] {
			out[i] += float32(weight * float64(x))
		}
	}
	return out
}

// Documents implements skills.Embedder.
func (s *standIn) Documents(_ context.Context, texts []string) ([][]float32, error) {
	var out [][]float32
	for _, t := range texts {
		out = append(out, s.vector(t))
	}
	return out, nil
}

// Query implements skills.Embedder.
func (s *standIn) Query(_ context.Context, text string) ([]float32, error) {
	return s.vector(text), nil
}

// hint is the length of the way by which a question of the hinted stand-in is moved.
const hint = 0.15

// hinted is a stand-in that knows the right skill of a question.
type hinted struct {
	*standIn
	right map[string][]float32 // by question
}

func newHinted(s *standIn, snapshot *skills.Snapshot, questions []question) (*hinted, error) {
	h := &hinted{standIn: s, right: map[string][]float32{}}
	for _, q := range questions {
		text, err := snapshot.Document(snapshot.Skill(q.skill))
		if err != nil {
			return nil, err
		}
		h.right[q.text] = unit(s.vector(text))
	}
	return h, nil
}

// Query implements skills.Embedder.
func (h *hinted) Query(_ context.Context, text string) ([]float32, error) {
	out := unit(h.vector(text))
	for i, x := range h.right[text] {
		out[i] += hint * x
	}
	return out, nil
}

// unit gives a vector the length 1.
func unit(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}
