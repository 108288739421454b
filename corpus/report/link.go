package report

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/ktxhq/ktx/corpus"
)

// link is a reference. Without a URL it is plain text.
type link struct{ Text, URL string }

// newLink returns a link to an http or https address. Any other address stays
// text.
func newLink(text, address string) link {
	l := link{Text: short(text, 300)}
	if strings.ContainsFunc(address, func(r rune) bool { return hidden(r, false) || r == ' ' }) {
		return l
	}
	u, err := url.Parse(address)
	if err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil {
		l.URL = u.String()
	}
	return l
}

var (
	cweID = regexp.MustCompile(`^CWE-([0-9]{1,6})$`)
	cveID = regexp.MustCompile(`^CVE-[0-9]{4}-[0-9]{4,10}$`)
)

// refLinks returns links to the public sources of a case.
func refLinks(refs corpus.Refs) []link {
	var links []link
	for _, id := range refs.CWE {
		l := link{Text: line(id)}
		if m := cweID.FindStringSubmatch(id); m != nil {
			l.URL = "https://cwe.mitre.org/data/definitions/" + m[1] + ".html"
		}
		links = append(links, l)
	}
	for _, id := range refs.CVE {
		l := link{Text: line(id)}
		if cveID.MatchString(id) {
			l.URL = "https://www.cve.org/CVERecord?id=" + id
		}
		links = append(links, l)
	}
	for _, address := range refs.URLs {
		links = append(links, newLink(address, address))
	}
	return links
}
