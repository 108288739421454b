package skills_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/research/skills"
	"github.com/ktxhq/ktx/research/skills/litestore"
)

// manySkills writes n skills, made of words whose frequencies fall as those of a language.
func manySkills(tb testing.TB, dir string, n int) (queries []string) {
	tb.Helper()
	source := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(source, 1.1, 5, 19_999)
	const syllables = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu"
	parts := strings.Fields(syllables)
	word := func() string {
		k := int(zipf.Uint64())
		text := ""
		for range 3 {
			text += parts[k%20]
			k /= 20
		}
		return text
	}
	text := func(words int) string {
		var b strings.Builder
		for i := range words {
			b.WriteString(word())
			b.WriteByte(" \n"[map[bool]int{true: 1}[i%12 == 11]])
		}
		return b.String()
	}
	files := map[string]string{".ktx/x": ""}
	for i := range n {
		name := fmt.Sprintf("%s-%s-%d", word(), word(), i)
		files["skills/"+name+"/SKILL.md"] = "---\nname: " + name + "\ndescription: " + strings.ReplaceAll(text(20), "\n", " ") + "\n---\n\n" + text(450)
		files["skills/"+name+"/references/more.md"] = text(100)
	}
	write(tb, dir, files)
	old := time.Now().Add(-time.Hour)
	for name := range files {
		if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(name)), old, old); err != nil {
			tb.Fatal(err)
		}
	}
	for range 400 {
		queries = append(queries, strings.ReplaceAll(text(4+source.IntN(8)), "\n", " "))
	}
	return queries
}

// BenchmarkCatalog measures a catalogue of 5,000 skills, as a server has it.
func BenchmarkCatalog(b *testing.B) {
	dir := b.TempDir()
	queries := manySkills(b, dir, 5000)
	at := func(list []time.Duration, share float64) float64 {
		slices.Sort(list)
		return float64(list[int(share*float64(len(list)-1))].Microseconds()) / 1000
	}
	ask := func(s *skills.Store, query string) time.Duration {
		start := time.Now()
		f, err := s.Search(b.Context(), query, skills.Filter{}, 5)
		if err != nil || len(f.Hits) == 0 {
			b.Fatalf("%d skills, %v", len(f.Hits), err)
		}
		return time.Since(start)
	}
	open := func() *skills.Store {
		return skills.NewStore(skills.Options{Catalog: catalog(b, dir), State: litestore.New(filepath.Join(dir, ".ktx", "skills", "state.db"))})
	}
	for b.Loop() {
		_ = os.RemoveAll(filepath.Join(dir, ".ktx", "skills"))
		cold := ask(open(), queries[0])
		s := open()
		warm := ask(s, queries[0])
		var questions []time.Duration
		for _, q := range queries {
			questions = append(questions, ask(s, q))
		}
		snapshot, err := s.Catalog().Snapshot()
		if err != nil {
			b.Fatal(err)
		}
		name := snapshot.Skills()[77].Name
		write(b, dir, map[string]string{"skills/" + name + "/SKILL.md": head(name, "Changed at "+time.Now().Format(time.RFC3339Nano)+".")})
		start := time.Now()
		for time.Since(start) < time.Minute {
			now, err := s.Catalog().Snapshot()
			if err != nil {
				b.Fatal(err)
			}
			if now.Skill(name) != snapshot.Skill(name) {
				break
			}
		}
		edit := time.Since(start)
		b.ReportMetric(cold.Seconds(), "cold-s")
		b.ReportMetric(warm.Seconds(), "warm-s")
		b.ReportMetric(at(questions, 0.5), "p50-ms")
		b.ReportMetric(at(questions, 0.95), "p95-ms")
		b.ReportMetric(edit.Seconds()*1000, "edit-ms")
		b.ReportMetric(0, "ns/op")
	}
}
