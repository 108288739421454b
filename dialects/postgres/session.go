package postgres

import "github.com/ktxhq/ktx/sqlguard"

// Session lists the settings that change how the server reads a text.
//
// With standard_conforming_strings off, a backslash in '…' hides the quote
// behind it, and what the parser took for a string would be SQL. The guard
// reads UTF-8, so the server must; an encoding such as SJIS has characters
// whose second byte is a backslash or a quote. The parser reads \' in E'…'
// where backslash_quote allows it for the encoding at hand; transform_null_equals
// would turn the comparison x = NULL into x IS NULL behind the reader's back.
func (Dialect) Session() []sqlguard.Setting {
	return []sqlguard.Setting{
		{Name: "standard_conforming_strings", Value: "on"},
		{Name: "client_encoding", Value: "UTF8"},
		{Name: "backslash_quote", Value: "safe_encoding"},
		{Name: "transform_null_equals", Value: "off"},
	}
}
