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
// It generates the rules of the filters, because they name each option.
func (p *page) dress() {
	var css strings.Builder
	css.WriteString(styleText)
	for _, filter := range []struct {
		name, of string
		options  []option
	}{{"by-dialect", ".group", p.ByDialect}, {"by-class", ".group", p.ByClass}, {"by-show", ".group", p.ByShow}, {"by-show", ".case", p.ByShow}} {
		for _, o := range filter.options {
			fmt.Fprintf(&css, "body:not(:has(.case:is(:target,.open))):has(#%s option[value=%q]:checked) %s:not(.%s){display:none}\n", filter.name, o.Key, filter.of, o.Key)
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
