package skills

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/rank"
)

// Snapshot is the skills at one time. It does not change.
type Snapshot struct {
	catalog  *Catalog
	entries  []*entry // by source and folder, without those that come with the program
	problems []Problem

	skills []*Skill // the published ones, sorted by name
	owners []*entry // of skills
	shards []*shard
	texts  map[string]*Skill // by Text
	forks  map[string]int    // by the name of the skill that they were made from
}

// of reports whether the snapshot was made of what is listed.
func (s *Snapshot) of(l *listing) bool {
	if len(l.found) != len(s.entries) || !slices.Equal(l.problems, s.problems) {
		return false
	}
	for i, f := range l.found {
		e := s.entries[i]
		if e.again || e.source != f.source || e.folder != f.folder || e.main != f.main {
			return false
		}
	}
	return true
}

// entry returns what is known of a folder, or nil. s may be nil.
func (s *Snapshot) entry(source int, folder string) *entry {
	if s == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(s.entries, found{source: source, folder: folder}, func(e *entry, f found) int {
		if e.source != f.source {
			return e.source - f.source
		}
		return strings.Compare(e.folder, f.folder)
	})
	if !ok {
		return nil
	}
	return s.entries[i]
}

// byName returns the folder of a published skill, or nil.
func (s *Snapshot) byName(name string) *entry {
	i, ok := slices.BinarySearchFunc(s.skills, name, func(k *Skill, name string) int { return strings.Compare(k.Name, name) })
	if !ok {
		return nil
	}
	return s.owners[i]
}

// Skills returns the published skills, sorted by name. Nobody may change the list.
func (s *Snapshot) Skills() []*Skill { return s.skills }

// Skill returns a published skill, or nil.
func (s *Snapshot) Skill(name string) *Skill {
	if e := s.byName(name); e != nil {
		return e.skill
	}
	return nil
}

// Text returns the skill with this hash of what is embedded, or nil.
func (s *Snapshot) Text(hash string) *Skill { return s.texts[hash] }

// Forks returns how many published skills say that they were made from a skill.
func (s *Snapshot) Forks(name string) int { return s.forks[name] }

func (s *Snapshot) names() []string {
	names := make([]string, len(s.skills))
	for i, k := range s.skills {
		names[i] = k.Name
	}
	return names
}

// The fields of the index, in the order of [fields].
const (
	fieldName = iota
	fieldDescription
	fieldTags
	fieldBody
)

// fields are the fields of a skill.
var fields = []rank.Field{
	{Name: "name", Weight: 3, B: 0.3},
	{Name: "description", Weight: 2, B: 0.5},
	{Name: "tags", Weight: 2, B: 0.5},
	{Name: "body", Weight: 1, B: 0.75},
}

// shardSize is about how many skills one index holds. A skill that changes has one index
// built anew.
const shardSize = 256

// A shard is the index of some skills.
type shard struct {
	skills []*Skill // by document
	index  *rank.Index
}

// key names the content of a shard.
func (h *shard) key() string {
	sum := sha256.New()
	for _, k := range h.skills {
		_, _ = sum.Write([]byte(k.Name + " " + k.Digest() + "\n"))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// divide puts skills into shards by their names.
func divide(skills []*Skill) []*shard {
	shards := make([]*shard, len(skills)/shardSize+1)
	for i := range shards {
		shards[i] = &shard{}
	}
	for _, k := range skills {
		h := fnv.New32a()
		_, _ = h.Write([]byte(k.Name))
		at := shards[int(h.Sum32())%len(shards)]
		at.skills = append(at.skills, k)
	}
	return shards
}

// finish makes what is derived from the entries. It keeps the indexes of the snapshot
// before, which may be nil, for skills that have not changed.
func (s *Snapshot) finish(before *Snapshot, bodies map[*entry]string) {
	s.publish()
	known := map[string]*rank.Index{}
	if before != nil {
		for _, h := range before.shards {
			if h.index != nil {
				known[h.key()] = h.index
			}
		}
	}
	s.shards = divide(s.skills)
	for _, h := range s.shards {
		if h.index = known[h.key()]; h.index == nil {
			h.index = s.build(h, bodies)
		}
	}
}

// publish finds the skills that are shown.
func (s *Snapshot) publish() {
	taken := map[string]bool{}
	for _, e := range slices.Concat(s.entries, s.catalog.builtins) {
		if k := e.published(); k != nil && !taken[k.Name] {
			taken[k.Name] = true
			s.owners = append(s.owners, e)
		}
	}
	slices.SortFunc(s.owners, func(a, b *entry) int { return strings.Compare(a.skill.Name, b.skill.Name) })
	s.texts, s.forks = map[string]*Skill{}, map[string]int{}
	for _, e := range s.owners {
		s.skills = append(s.skills, e.skill)
		s.texts[e.skill.Text] = e.skill
		if e.skill.ForkedFrom != "" {
			s.forks[e.skill.ForkedFrom]++
		}
	}
}

// build makes the index of a shard.
func (s *Snapshot) build(h *shard, bodies map[*entry]string) *rank.Index {
	b := rank.NewBuilder(s.catalog.analyzer, fields)
	for _, k := range h.skills {
		body, ok := bodies[s.byName(k.Name)]
		if !ok {
			body, _ = s.Body(k) // a file that has just changed is read again at the next call
		}
		b.Add(
			rank.Text{Field: fieldName, Text: k.Name},
			rank.Text{Field: fieldDescription, Text: k.Description},
			rank.Text{Field: fieldTags, Text: strings.Join(append([]string{k.Category}, k.Tags...), "\n")},
			rank.Text{Field: fieldBody, Text: body},
		)
	}
	return b.Index()
}

// maxDocument is how much of a skill is embedded, in bytes. The default model reads about
// 2,000 tokens.
const maxDocument = 6000

// document returns what is embedded of a skill.
func document(k *Skill, body string) string {
	text := k.Name + "\n" + k.Description
	if len(k.Tags) > 0 {
		text += "\n" + strings.Join(k.Tags, ", ")
	}
	return cut(text+"\n\n"+strings.TrimSpace(body), maxDocument)
}

// textHash returns the hash of what is embedded of a skill.
func textHash(k *Skill, body string) string {
	sum := sha256.Sum256([]byte(document(k, body)))
	return hex.EncodeToString(sum[:])
}

// Document returns what is embedded of a skill.
func (s *Snapshot) Document(k *Skill) (string, error) {
	body, err := s.Body(k)
	if err != nil {
		return "", err
	}
	return document(k, body), nil
}

// cut returns the first n bytes of a text, or fewer so that no rune is divided.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return text[:n]
}
