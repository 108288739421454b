package postgres

import "github.com/ktxhq/ktx/sqlguard"

// Session lists the settings that change how the server reads a statement.
//
// With standard_conforming_strings off, a backslash in '…' escapes the quote after it, and
// the server would run as SQL what the parser read as a string. The guard reads UTF-8, so
// the server must read UTF-8 too: an encoding such as SJIS has characters whose second
// byte is a backslash or a quote. The parser reads \' in E'…' if backslash_quote allows it
// for the session's encoding. transform_null_equals would turn the comparison x = NULL
// into x IS NULL.
func (Dialect) Session() []sqlguard.Setting {
	return []sqlguard.Setting{
		{Name: "standard_conforming_strings", Value: "on"},
		{Name: "client_encoding", Value: "UTF8"},
		{Name: "backslash_quote", Value: "safe_encoding"},
		{Name: "transform_null_equals", Value: "off"},
	}
}
