package edit_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/cmd/ktx/internal/setup/edit"
)

// writer writes a random text. Every number and every comment in it has a
// unique mark, "m" and digits, with which edits find a position.
type writer struct {
	*rapid.T
	strings.Builder
	newline, unit            string
	messy, comments, trailer bool
	marks                    int
}

func newWriter(t *rapid.T) *writer {
	return &writer{
		T:        t,
		newline:  rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline"),
		unit:     rapid.SampledFrom([]string{"", " ", "  ", "   ", "    ", "\t"}).Draw(t, "unit"),
		messy:    rapid.Bool().Draw(t, "messy"),
		comments: rapid.Bool().Draw(t, "comments"),
		trailer:  rapid.Bool().Draw(t, "trailing commas"),
	}
}

func (w *writer) oneIn(n int) bool { return rapid.IntRange(1, n).Draw(w.T, "one in") == 1 }

func (w *writer) pick(all ...string) string { return rapid.SampledFrom(all).Draw(w.T, "one of") }

func (w *writer) mark() string {
	w.marks++
	return fmt.Sprintf("m%03d", w.marks)
}

// gap writes what may be between two tokens. If lines is set, the next token
// begins a line in a tidy text.
func (w *writer) gap(lines bool, depth int) {
	if w.messy {
		for range rapid.IntRange(0, 3).Draw(w.T, "blanks") {
			w.WriteString(w.pick(" ", "\t", w.newline, "  "))
		}
	}
	if w.comments && w.oneIn(4) {
		if w.oneIn(2) && (lines || w.messy) {
			w.WriteString(" // " + w.mark() + " \"mcpServers\": {" + w.pick("", " ", "\t") + w.newline)
		} else {
			w.WriteString("/* " + w.mark() + " } */")
		}
	}
	if lines && !w.messy {
		w.WriteString(w.newline + strings.Repeat(w.unit, depth))
	}
}

// key returns one of a few names, including those of the path.
func (w *writer) key() string {
	return w.pick(`"a"`, `"mcpServers"`, `"ktx"`, `"ü \" \\ \u00e9"`, `""`, `"b.c"`)
}

// object writes an object with the members that fixed writes, by their keys,
// among members with other keys.
func (w *writer) object(depth int, lines bool, fixed map[string]func()) {
	var members []func()
	for _, key := range slices.Sorted(mapsKeys(fixed)) {
		members = append(members, func() {
			w.WriteString(key)
			w.colon(depth)
			fixed[key]()
		})
	}
	for range rapid.IntRange(0, 3).Draw(w.T, "members") {
		key := w.key()
		if _, taken := fixed[key]; taken || fixed != nil && (key == `"mcpServers"` || key == `"ktx"`) {
			continue
		}
		members = append(members, func() {
			w.WriteString(key)
			w.colon(depth)
			w.value(depth+1, lines)
		})
	}
	w.all('{', '}', rapid.Permutation(members).Draw(w.T, "order"), depth, lines)
}

func mapsKeys(m map[string]func()) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (w *writer) colon(depth int) {
	w.gap(false, depth)
	w.WriteString(":")
	w.gap(false, depth)
	if !w.messy {
		w.WriteString(" ")
	}
}

func (w *writer) all(open, closing byte, members []func(), depth int, lines bool) {
	w.WriteByte(open)
	for i, m := range members {
		w.gap(lines, depth+1)
		m()
		w.gap(false, depth)
		if i < len(members)-1 || w.trailer {
			w.WriteString(",")
		}
	}
	w.gap(lines && len(members) > 0, depth)
	w.WriteByte(closing)
}

func (w *writer) value(depth int, lines bool) {
	n := rapid.IntRange(0, 5).Draw(w.T, "kind")
	lines = lines && !w.oneIn(3)
	switch {
	case n == 0 && depth < 4:
		w.object(depth, lines, nil)
	case n == 1 && depth < 4:
		var all []func()
		for range rapid.IntRange(0, 3).Draw(w.T, "elements") {
			all = append(all, func() { w.value(depth+1, lines) })
		}
		w.all('[', ']', all, depth, lines)
	case n == 2:
		w.WriteString(w.pick("true", "false", "null", "-1.50e+3", "12345678901234567890"))
	default:
		w.WriteString(`"` + w.mark() + w.pick("", `\"}`, "ü", `\u2028`, "//", "/*") + `"`)
	}
}

// settings writes a file in JSON, with or without the parents of the entry.
func (w *writer) settings() string {
	w.WriteString(w.pick("", "", "\ufeff"))
	w.gap(false, 0)
	lines := !w.oneIn(4)
	fixed := map[string]func(){}
	if w.oneIn(2) {
		fixed[`"mcpServers"`] = func() {
			servers := map[string]func(){}
			if w.oneIn(2) {
				servers[`"other"`] = func() { w.object(2, lines, nil) }
			}
			w.object(1, lines, servers)
		}
	}
	w.object(0, lines, fixed)
	w.gap(false, 0)
	w.WriteString(w.pick("", w.newline))
	return w.String()
}

// tomlSettings writes a file in TOML.
func (w *writer) tomlSettings() string {
	w.WriteString(w.pick("", "", "\ufeff"))
	line := func(text string) {
		w.WriteString(w.pick("", "", "  ", "\t") + text + w.pick("", " ", "\t"))
		if w.comments && w.oneIn(3) {
			w.WriteString("# " + w.mark() + " [mcp_servers.ktx]")
		}
		w.WriteString(w.newline)
		for w.oneIn(4) {
			w.WriteString(w.newline)
		}
	}
	pairs := func() {
		for range rapid.IntRange(0, 3).Draw(w.T, "pairs") {
			value := w.pick("1", "nan", "-inf", "0x10", "1979-05-27T07:32:00Z", "07:32:00", `"[a]"`, "'#'", "[1, 2]",
				"["+w.newline+" 1, # one"+w.newline+"]", `"""`+w.newline+`[mcp_servers.ktx]`+w.newline+`"""`, "{ a = 1, b.c = 'x' }", "true", "9223372036854775807")
			line(w.pick("", "  ") + w.pick("", "d.", `"e f" . `) + w.mark() + w.pick(" = ", "=") + value)
		}
	}
	comment := func() {
		if w.comments && w.oneIn(2) {
			w.WriteString("# " + w.mark() + w.newline)
		}
	}
	comment()
	if w.oneIn(5) {
		line(`mcp_servers.other.url = "` + w.mark() + `"`)
	} else if w.oneIn(3) {
		pairs()
		line(w.pick("[mcp_servers.other]", "[mcp_servers]", "[ mcp_servers . 'a.b' ]", `["mcp_servers"]`))
	}
	pairs()
	for range rapid.IntRange(0, 3).Draw(w.T, "tables") {
		comment()
		line(w.pick("["+w.mark()+"]", "[["+w.mark()+"]]", "[x."+w.mark()+"]", "[ '"+w.mark()+"' . ktx ]", `["\u00fc".`+w.mark()+"]"))
		pairs()
	}
	comment()
	text := w.String()
	if w.oneIn(3) {
		text = strings.TrimRight(text, " \t\r\n")
	}
	return text
}

// An addition is a text with the change that adds a value. The properties are
// checked for it.
type addition struct {
	language edit.Language
	before   string
	path     []string
	value    string
	splice   edit.Splice
	after    string
}

func add(t *rapid.T, a addition) addition {
	s, err := a.language.Set([]byte(a.before), a.path, json.RawMessage(a.value))
	if err != nil {
		t.Fatalf("%v\n%q", err, a.before)
	}
	a.splice, a.after = s, string(s.Apply([]byte(a.before)))
	return a
}

func draw(t *rapid.T, l edit.Language) (addition, *writer) {
	w := newWriter(t)
	a := addition{language: l, value: rapid.SampledFrom([]string{`{}`, `{"url":"x"}`, `{"type":"http","url":"http://x/mcp","headers":{"Authorization":"Bearer ${T}"}}`, `{"command":"ktx","args":["mcp","stdio","ü\"\\"],"n":1.5,"b":true}`}).Draw(t, "value")}
	if l == edit.TOML {
		a.before, a.path = w.tomlSettings(), []string{"mcp_servers", "ktx"}
	} else {
		a.before, a.path = w.settings(), rapid.SampledFrom([][]string{{"mcpServers", "ktx"}, {"projects", "/a b/ü", "mcpServers", "ktx"}}).Draw(t, "path")
	}
	return add(t, a), w
}

func (a addition) remove(t *rapid.T, text string, undo edit.Splice) string {
	got, err := a.language.Remove([]byte(text), a.path, undo)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return string(got)
}

func languages(t *testing.T, f func(t *rapid.T, l edit.Language)) {
	t.Helper()
	for name, l := range map[string]edit.Language{"JSON": edit.JSON, "TOML": edit.TOML} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { f(t, l) })
		})
	}
}

func TestSetAddsOnly(t *testing.T) {
	languages(t, func(t *rapid.T, l edit.Language) {
		a, _ := draw(t, l)
		s := a.splice
		if s.Removed != a.before[s.Offset:s.Offset+len(s.Removed)] || strings.Trim(s.Removed, " \t\r\n") != "" {
			t.Fatalf("removed %q", s.Removed)
		}
		head := a.before[:s.Offset]
		if s.CommaAt != 0 {
			head = head[:s.CommaAt] + "," + head[s.CommaAt:]
		}
		if want := head + s.Inserted + a.before[s.Offset+len(s.Removed):]; a.after != want {
			t.Fatalf("the change does more:\n%s\n\n%s", want, a.after)
		}
		if strings.Contains(a.before, "\n") && (!bare(a.before) && bare(a.after) || !strings.Contains(a.before, "\r") && strings.Contains(a.after, "\r")) {
			t.Fatalf("lines end in two ways:\n%q", a.after)
		}
		if again := add(t, addition{language: l, before: a.after, path: a.path, value: a.value}); !again.splice.Empty() {
			t.Fatalf("set again: %+v", again.splice)
		}
	})
}

// bare reports whether a line ends without a carriage return.
func bare(text string) bool { return strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\n") }

func TestRemoveUndoesSet(t *testing.T) {
	languages(t, func(t *rapid.T, l edit.Language) {
		a, _ := draw(t, l)
		stored, err := json.Marshal(a.splice)
		if err != nil {
			t.Fatal(err)
		}
		var undo edit.Splice
		if err := json.Unmarshal(stored, &undo); err != nil {
			t.Fatal(err)
		}
		if got := a.remove(t, a.after, undo); got != a.before {
			t.Fatalf("want %q\ngot  %q\nof   %q", a.before, got, a.after)
		}
	})
}

// anyValue returns a value that an entry may have. JSON writes larger floats as
// whole numbers that TOML does not have.
func anyValue(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{rapid.String().AsAny(), rapid.Int64().AsAny(), rapid.Float64Range(-1e15, 1e15).AsAny(), rapid.Bool().AsAny()}
	if depth > 0 {
		scalars = append(scalars,
			rapid.SliceOfN(anyValue(depth-1), 0, 3).AsAny(),
			rapid.MapOfN(rapid.String(), anyValue(depth-1), 0, 3).AsAny())
	}
	return rapid.OneOf(scalars...)
}

// Any key and any value are read back unchanged.
func TestSetKeepsValues(t *testing.T) {
	languages(t, func(t *rapid.T, l edit.Language) {
		w := newWriter(t)
		want := rapid.MapOfN(rapid.String(), anyValue(2), 0, 4).Draw(t, "value")
		value, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		a := addition{language: l, before: w.settings(), value: string(value), path: []string{rapid.String().Draw(t, "parent") + "!", rapid.String().Draw(t, "key")}}
		if l == edit.TOML {
			a.before = (&writer{T: t, newline: w.newline, comments: true}).tomlSettings()
		}
		a = add(t, a)
		got, found, err := l.Lookup([]byte(a.after), a.path)
		if err != nil || !found {
			t.Fatalf("%t, %v", found, err)
		}
		if diff := cmp.Diff(decoded(t, value), decoded(t, got)); diff != "" {
			t.Fatalf("-want +got:\n%s\n%s", diff, a.after)
		}
		if back := a.remove(t, a.after, a.splice); back != a.before {
			t.Fatalf("want %q\ngot  %q", a.before, back)
		}
	})
}

func decoded(t *rapid.T, text []byte) (value any) {
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// Edits elsewhere in the text stay, and the rest is as it was before.
func TestRemoveKeepsEdits(t *testing.T) {
	languages(t, func(t *rapid.T, l edit.Language) {
		a, w := draw(t, l)
		before, after := a.before, a.after
		for range rapid.IntRange(0, 4).Draw(t, "edits") {
			if w.marks == 0 {
				break
			}
			mark := fmt.Sprintf("m%03d", rapid.IntRange(1, w.marks).Draw(t, "mark"))
			edited := rapid.SampledFrom([]string{"x", "xy" + mark, "a-very-much-longer-text"}).Draw(t, "edited")
			if l == edit.TOML {
				edited = "x" + mark // a name must not occur twice
			}
			before, after = strings.ReplaceAll(before, mark, edited), strings.ReplaceAll(after, mark, edited)
		}
		head, tail := "", w.pick("", w.newline)
		if l == edit.TOML && (tail != "" || strings.HasSuffix(before, "\n")) {
			tail += w.pick("", "# new"+w.newline, "[new]"+w.newline+"a = 1"+w.newline, "[mcp_servers.new]")
			head = w.pick("", "# new"+w.newline, "new1 = 1"+w.newline)
		} else if l == edit.JSON {
			head = w.pick("", "/* new */", w.newline)
		}
		if strings.HasPrefix(before, "\ufeff") {
			head = ""
		}
		before, after = head+before+tail, head+after+tail
		if got := a.remove(t, after, a.splice); got != before {
			t.Fatalf("want %q\ngot  %q\nof   %q", before, got, after)
		}
	})
}

// Without the change that Set returned, the entry is removed and everything
// else stays, including comments.
func TestRemoveWithoutUndo(t *testing.T) {
	languages(t, func(t *rapid.T, l edit.Language) {
		a, w := draw(t, l)
		got := a.remove(t, a.after, edit.Splice{Created: a.splice.Created})
		for n := range w.marks {
			if mark := fmt.Sprintf("m%03d", n+1); strings.Count(got, mark) != strings.Count(a.before, mark) {
				t.Fatalf("%s is lost of %q: %q", mark, a.after, got)
			}
		}
		// The same entry can be added again. Its parents were removed.
		again := add(t, addition{language: l, before: got, path: a.path, value: a.value})
		if again.splice.Created != a.splice.Created {
			t.Fatalf("%d parents were made, then %d: %q", a.splice.Created, again.splice.Created, got)
		}
	})
}

// Other members around the entry stay, and strict JSON stays strict.
func TestRemoveKeepsMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, w := draw(t, edit.JSON)
		start := a.splice.Offset
		if a.splice.CommaAt != 0 {
			start++
		}
		inserted := a.splice.Inserted
		name := strings.Index(inserted, `"ktx"`)
		end := len(inserted)
		for range a.splice.Created + 1 {
			end = strings.LastIndex(inserted[:end], "}")
		}
		behind, before := "", ""
		if w.oneIn(2) {
			behind = w.pick("", " ", w.newline) + `,"behind": 1`
		}
		if w.oneIn(2) {
			before = `"before": 1,` + w.pick("", " ", w.newline)
		}
		inserted = inserted[:name] + before + inserted[name:end+1] + behind + inserted[end+1:]
		if lead, _, _ := strings.Cut(inserted, `"`); w.oneIn(2) {
			above := lead + `"above": 1`
			if !strings.HasPrefix(lead, ",") {
				above += ","
			}
			inserted = above + inserted
		}
		text := a.after[:start] + inserted + a.after[start+len(a.splice.Inserted):]
		undo := rapid.SampledFrom([]edit.Splice{a.splice, {Created: a.splice.Created}, {}}).Draw(t, "undo")
		got := a.remove(t, text, undo)
		for n := range w.marks {
			if mark := fmt.Sprintf("m%03d", n+1); strings.Count(got, mark) != strings.Count(a.before, mark) {
				t.Fatalf("%s is lost of %q: %q", mark, text, got)
			}
		}
		for key, there := range map[string]bool{"behind": behind != "", "before": before != ""} {
			path := append(slices.Clone(a.path[:len(a.path)-1]), key)
			if _, found, err := edit.JSON.Lookup([]byte(got), path); err != nil || found != there {
				t.Fatalf("%s: %t, %v in %q", key, found, err, got)
			}
		}
		if strings.Count(got, `"above": 1`) != strings.Count(text, `"above": 1`) {
			t.Fatalf("a member is lost of %q: %q", text, got)
		}
		if valid := json.Valid([]byte(text)); valid != json.Valid([]byte(got)) {
			t.Fatalf("strict is %t before:\n%s\n%s", valid, text, got)
		}
	})
}
