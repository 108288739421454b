package research_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/sqlguard"
)

// crowd makes projects of made-up words: topics, of which tables and pages have names,
// and common words, of which everything has some.
type crowd struct {
	random *rand.Rand
	words  map[string]bool
	common []string
}

func newCrowd(seed uint64) *crowd {
	c := &crowd{random: rand.New(rand.NewPCG(seed, 7)), words: map[string]bool{}} // the same words in every run
	for range 40 {
		c.common = append(c.common, c.word())
	}
	return c
}

// word returns a word that no other call returned, and that resembles few others.
func (c *crowd) word() string {
	for {
		var b strings.Builder
		for range 3 {
			b.WriteByte("bcdfghklmnprtvz"[c.random.IntN(15)])
			b.WriteByte("aeiou"[c.random.IntN(5)])
		}
		if w := b.String() + "k"; !c.words[w] {
			c.words[w] = true
			return w
		}
	}
}

func (c *crowd) pick(n int) []string {
	var out []string
	for range n {
		out = append(out, c.common[c.random.IntN(len(c.common))])
	}
	return out
}

// A crowdQuestion is a question, and the topic of the tables or pages that it needs.
type crowdQuestion struct{ text, topic string }

// ask returns a question: the topic and some common words.
func (c *crowd) ask(topic string) crowdQuestion {
	words := append(c.pick(3), topic)
	c.random.Shuffle(len(words), func(a, b int) { words[a], words[b] = words[b], words[a] })
	return crowdQuestion{strings.Join(words, " "), topic}
}

// Each topic has so many tables or pages.
const (
	tablesOfTopic = 7
	pagesOfTopic  = 4
)

// database writes a connection of tables of n topics, and returns a question for each.
func (c *crowd) database(t *testing.T, dir, id string, n int) []crowdQuestion {
	t.Helper()
	var scan catalogtest.Scan
	var out []crowdQuestion
	for range n {
		topic := c.word()
		for range tablesOfTopic {
			columns := []string{"id int"}
			for _, i := range c.random.Perm(len(c.common))[:6] {
				columns = append(columns, c.common[i]+" text")
			}
			scan.Tables = append(scan.Tables, catalogtest.Table("public."+topic+"_"+c.word(), columns...))
		}
		out = append(out, c.ask(topic))
	}
	catalogtest.Write(t, dir, id, scan)
	return out
}

// pages writes pages of 120 words about n topics, and returns a question for each.
func (c *crowd) pages(t *testing.T, dir string, n int) []crowdQuestion {
	t.Helper()
	var out []crowdQuestion
	for range n {
		topic := c.word()
		for range pagesOfTopic {
			detail := c.word()
			body := append(c.pick(110), topic, detail)
			c.random.Shuffle(len(body), func(a, b int) { body[a], body[b] = body[b], body[a] })
			put(t, fmt.Sprintf("---\nsummary: %s\n---\n# %s %s\n%s.\n", strings.Join(c.pick(4), " "), topic, detail, strings.Join(body, " ")), dir, "wiki", "global", topic+"-"+detail+".md")
		}
		out = append(out, c.ask(topic))
	}
	return out
}

// TestCrowds: many pages about something else do not push tables out of the first 15
// results, and many tables about something else do not push pages out of the first 5.
func TestCrowds(t *testing.T) {
	t.Parallel()
	alone, beside := t.TempDir(), t.TempDir()
	connections := []execution.Connection{artifactOnly("w", sqlguard.Policy{})}
	c := newCrowd(1)
	tables := c.database(t, beside, "w", 30)
	if !slices.Equal(newCrowd(1).database(t, alone, "w", 30), tables) {
		t.Fatal("the two databases differ")
	}
	pages := c.pages(t, beside, 50)
	without, with := connectIn(t, alone, connections...), connectIn(t, beside, connections...)
	// found counts the results for a question that are of its topic, among the first.
	found := func(c *client, q crowdQuestion, kind research.Kind, first int) (n int) {
		refs := c.discover(`{"query":` + jsonText(t, q.text) + `}`).Refs
		for _, r := range refs[:min(first, len(refs))] {
			if r.Kind == kind && strings.Contains(r.ID, q.topic) {
				n++
			}
		}
		return n
	}
	plain, crowded, hits := 0, 0, 0
	for _, q := range tables {
		plain, crowded = plain+found(without, q, research.KindTable, 15), crowded+found(with, q, research.KindTable, 15)
	}
	for _, q := range pages {
		hits += found(with, q, research.KindWiki, 5)
	}
	wanted := [2]int{len(tables) * tablesOfTopic, len(pages) * pagesOfTopic}
	t.Logf("tables: %d without pages, %d beside them, of %d; pages beside tables: %d of %d", plain, crowded, wanted[0], hits, wanted[1])
	if plain < wanted[0]*95/100 {
		t.Errorf("without pages, %d of %d tables are among the first 15 results", plain, wanted[0])
	}
	if crowded < plain*97/100 {
		t.Errorf("beside pages, %d of %d tables are among the first 15 results; without pages, %d are", crowded, wanted[0], plain)
	}
	if hits < wanted[1]*95/100 {
		t.Errorf("beside tables, %d of %d pages are among the first 5 results", hits, wanted[1])
	}
	// The name of a table in quotes is first, whatever pages say of it.
	var named catalog.Ref
	for _, r := range with.discover(`{"query":` + jsonText(t, tables[3].text) + `,"kinds":["table"]}`).Refs {
		named = *r.TableRef
	}
	first := with.discover(`{"query":` + jsonText(t, `"`+named.Name+`" `+pages[0].text) + `}`).Refs[0]
	if first.TableRef == nil || *first.TableRef != named {
		t.Errorf("the first is %s %s, want the table %s, which the question quotes", first.Kind, first.ID, named.Name)
	}
}
