package pages

import (
	"net/http"
	"net/url"
)

// query is the conditions of an address.
type query struct{ values url.Values }

func queryOf(r *http.Request) query { return query{r.URL.Query()} }

func (q query) get(name string) string { return q.values.Get(name) }

// with returns the conditions with another value for one, on the first page.
func (q query) with(name, value string) query {
	out := url.Values{}
	for k, v := range q.values {
		if k != "after" && k != name && len(v) == 1 && v[0] != "" {
			out.Set(k, v[0])
		}
	}
	if value != "" {
		out.Set(name, value)
	}
	return query{out}
}

// address returns the conditions as the end of an address.
func (q query) address() string {
	if len(q.values) == 0 {
		return ""
	}
	return "?" + q.values.Encode()
}

// link is a link in a list of choices.
type link struct {
	Label, Href string
	Current     bool
}
