package wiki_test

import (
	"testing"

	"github.com/ktxhq/ktx/research/wiki"
)

// TestSynonymsOfPhrases finds pages by phrases, and by words whose base form no ending
// tells.
func TestSynonymsOfPhrases(t *testing.T) {
	t.Parallel()
	store := storeOf(t, map[string]string{
		"wiki/global/subscriptions.md": "Who unsubscribes is removed from the list at night.",
		"wiki/global/levies.md":        "The value added tax of a country is in its own line. Another line has the total.",
		"wiki/global/trade.md":         "What somebody has to buy is on the form.",
		"wiki/global/other.md":         "Nothing of this page has to do with the rest.",
	})
	for query, key := range map[string]string{
		"opted out":       "subscriptions", // a phrase for a word
		"vat":             "levies",        // a word for a phrase
		"purchased goods": "trade",
		"bought":          "trade",
	} {
		found, err := store.Search(query, 5)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Hits) == 0 || found.Hits[0].Page.Key != key {
			t.Errorf("%q: got %v, want %s first", query, keys(found), key)
		}
	}
	// A page has to have all words of a phrase.
	found, err := store.Search("vat", 5)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Hits) != 1 {
		t.Errorf("vat: got %v, want levies only", keys(found))
	}
}

func keys(found wiki.Found) []string {
	var out []string
	for _, h := range found.Hits {
		out = append(out, h.Page.Key)
	}
	return out
}
