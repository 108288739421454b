package report

import (
	"crypto/sha256"
	_ "embed" // the parts of the page
	"encoding/base64"
	"fmt"
	"strings"
)

var (
	//go:embed page.css
	styleText string
	//go:embed page.js
	scriptText string
)

// dress adds the style, and the policy that allows only it and the script.
// It generates the rules of the filters, because they name each option. They serve a
// browser without scripts, and ask only the form what it has: a browser would look through
// all cases again for each part of the page that it reads. The case that the address names
// is shown in any case.
func (p *page) dress() {
	var css strings.Builder
	css.WriteString(styleText)
	for _, filter := range []struct {
		name, of string
		options  []option
	}{{"by-dialect", ".group", p.ByDialect}, {"by-class", ".group", p.ByClass}, {"by-show", ".group", p.ByShow}, {"by-show", ".case", p.ByShow}} {
		for _, o := range filter.options {
			fmt.Fprintf(&css, "#filters:has(#%s option[value=%q]:checked)~noscript %s:not(.%s)%s:not(:target){display:none}\n", filter.name, o.Key, filter.of, o.Key, map[string]string{".group": ">*"}[filter.of])
		}
	}
	p.Style = css.String()
	p.Policy = fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'", hash(css.String()), hash(scriptText))
}

// hash returns the hash of a text as a source expression of a
// Content-Security-Policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
