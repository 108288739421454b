package rank_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/rank"
)

// FuzzFold wants a folded text to be folded already.
func FuzzFold(f *testing.F) {
	for _, s := range []string{"Straße", "ΣΊΣΥΦΟΣ", "İIı", "ﬁ  a\u00a0b\t", "é\u0301", "AB-12/3", "顧客\x00", "\xff\xfe", "क्षि", "ガ", "ꮢ", "Ꮢ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := rank.Fold(s)
		if twice := rank.Fold(once); twice != once {
			t.Errorf("%q is folded to %q and then to %q", s, once, twice)
		}
		if !utf8.ValidString(once) || strings.TrimSpace(once) != once {
			t.Errorf("%q is folded to %q", s, once)
		}
		if code := rank.FoldCode(s); strings.ContainsAny(code, " -_.") {
			t.Errorf("%q has the code %q", s, code)
		}
	})
}

// FuzzFind wants places that are between runes, and the words of a text to be found in
// it.
func FuzzFind(f *testing.F) {
	f.Add("orders", "One row for each order.")
	f.Add("注文 café", "la 注文の CAFE\u0301 _x_")
	f.Add("custmer", "\xffHTTPServer2customers")
	a := rank.NewAnalyzer(nil)
	f.Fuzz(func(t *testing.T, question, text string) {
		if len(question) > 1<<12 || len(text) > 1<<12 {
			return
		}
		q := a.Query(question)
		start, end, ok := q.Find(text)
		between := map[int]bool{len(text): true}
		for i := range text {
			between[i] = true
		}
		if ok && (start >= end || !between[start] || !between[end]) {
			t.Errorf("%q is found in %q at %d to %d", question, text, start, end)
		}
		if ok && q.Empty() {
			t.Errorf("%q has no word, and is found in %q", question, text)
		}
		if _, _, own := q.Find(q.Text()); own == q.Empty() {
			t.Errorf("the words of %q are found in it: %t", question, own)
		}
	})
}

// FuzzQuotes wants the quoted texts of a question to be those that a plain reader finds,
// which looks for the end of each quote from its beginning.
func FuzzQuotes(f *testing.F) {
	for _, s := range []string{`"a b" 'c'd' [e`, "it's «x» `y``z`", "[[a]]]", `""""`, "“a ‘b’ ”", "''", "a'b' 'c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		text = strings.ToValidUTF8(text, " ")
		got, want := rank.Quotes(text), rank.PlainQuotes(text)
		if strings.Join(got, "\x00") != strings.Join(want, "\x00") || len(got) != len(want) {
			t.Errorf("%q quotes %q, want %q", text, got, want)
		}
	})
}

// FuzzReadIndex wants an index that can be searched or ErrForeign for all bytes, and no
// more memory than the bytes need. Bytes that make an index are those that it is written
// as.
func FuzzReadIndex(f *testing.F) {
	a := rank.NewAnalyzer(nil)
	stored, err := shop(a).AppendBinary(nil)
	if err != nil {
		f.Fatal(err)
	}
	body := stored[:len(stored)-4]
	f.Add(body)
	for n := 0; n < len(body); n += 11 {
		f.Add(body[:n])
		changed := append([]byte{}, body...)
		changed[n] ^= 0xff
		f.Add(changed)
	}
	q := a.Query("customer order 注文 custmer")
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<16 {
			return
		}
		// With a right checksum, the bytes are looked at.
		b := rank.WithChecksum(body)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		x, err := rank.ReadIndex(a, b)
		runtime.ReadMemStats(&after)
		if used, bound := after.TotalAlloc-before.TotalAlloc, uint64(64*len(b)+1<<20); used > bound {
			t.Errorf("%d bytes need %d bytes of memory", len(b), used)
		}
		if err != nil {
			if !errors.Is(err, rank.ErrForeign) {
				t.Error(err)
			}
			return
		}
		again, err := x.AppendBinary(nil)
		if err != nil || string(again) != string(b) {
			t.Errorf("%q is written as %q: %v", b, again, err)
		}
		if x.Docs() < 1<<16 {
			rank.Search(q, x)
		}
	})
}

// TestLongQuestions wants questions that open much and close nothing to be read. With
// quadratic time, this would take a minute.
func TestLongQuestions(t *testing.T) {
	a := rank.NewAnalyzer(nil)
	for _, part := range []string{"[", "'", "“ ", "[a]", "`a b`", "a_b,", "a.b", "'a", "\"a\" \"", "« »", "注"} {
		if q := a.Query(strings.Repeat(part, 1<<20/len(part))); len(q.Names()) > 200 {
			t.Errorf("%q repeated has %d names", part, len(q.Names()))
		}
	}
}
