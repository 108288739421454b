package pages

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// paging leads to the parts of the lists of a page. The address has, under the name of
// each list, the entry after which its part begins. A list whose entry is blank or not
// there begins with its first one.
type paging struct {
	path string
	q    url.Values
}

func pagingOf(r *http.Request) paging { return paging{r.URL.Path, r.URL.Query()} }

// at returns the entry after which a list begins.
func (p paging) at(list string) string { return p.q.Get(list) }

// address returns the address of the page whose list begins after an entry.
func (p paging) address(list, after string) string {
	q := maps.Clone(p.q)
	if q.Del(list); after != "" {
		q.Set(list, after)
	}
	address := p.path
	if len(q) > 0 {
		address += "?" + q.Encode()
	}
	if list != mainList {
		address += "#" + list // it stands below other things
	}
	return address
}

// mainList is the name of the list that a page is about.
const mainList = "after"

// part returns the part of a list that the page shows. key names an entry.
func part[T any](p paging, list string, all []T, most int, key func(T) string) (shown []T, more int) {
	after := p.at(list)
	first := 1 + slices.IndexFunc(all, func(one T) bool { return after != "" && key(one) == after })
	last := min(first+most, len(all))
	return all[first:last], len(all) - last
}

// maxPlace bounds the place at which a ranked list begins.
const maxPlace = 1_000_000

// place reads where a ranked list begins: how many of its entries are left out.
func (p paging) place(list string) int {
	n, err := strconv.Atoi(p.at(list))
	if err != nil || n < 0 { // anything else begins the list
		return 0
	}
	return min(n, maxPlace)
}

// turn leads from a part of a list to the next one, after its last entry, and back to the
// first.
func (d *document) turn(p paging, list, last string, more int) {
	next := ""
	if more > 0 {
		next = p.address(list, last)
	}
	first := ""
	if p.at(list) != "" {
		first = p.address(list, "")
	}
	d.turnTo(first, next, group(int64(more))+" more")
}

// ranked leads from a part of a ranked list, which ends at a place, to the next one.
func (d *document) ranked(p paging, last int, more bool) {
	first, next := "", ""
	if p.place(mainList) > 0 {
		first = p.address(mainList, "")
	}
	if more {
		next = p.address(mainList, strconv.Itoa(last))
	}
	d.turnTo(first, next, "More")
}

// turnTo leads to the first and the next part of a list. An address is blank when there is
// no such part.
func (d *document) turnTo(first, next, label string) {
	if first == "" && next == "" {
		return
	}
	d.Put(`<ul class="choices turn">`)
	if first != "" {
		d.Put(`<li><a href="%s">The first</a></li>`, first)
	}
	if next != "" {
		d.Put(`<li><a rel="next" href="%s">%s</a></li>`, next, label)
	}
	d.Put(`</ul>`)
}
