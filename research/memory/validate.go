package memory

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxContent is the maximum size of a text, in bytes.
const MaxContent = 64 << 10

// InvalidError says why a text is refused.
type InvalidError struct {
	Line    int    // 0 if it is about the whole text
	Message string // says what to do
}

// Error returns the message with its line.
func (e *InvalidError) Error() string {
	if e.Line == 0 {
		return "content: " + e.Message
	}
	return fmt.Sprintf("content, line %d: %s", e.Line, e.Message)
}

// Validate returns an *[InvalidError] if a text is refused: it is empty or larger
// than [MaxContent], it is not UTF-8, it has control characters other than tabs and
// line ends, or it has what looks like a credential. The error does not repeat the
// credential.
func Validate(content string) error {
	switch {
	case strings.TrimFunc(content, func(r rune) bool { return r == '\uFEFF' || unicode.IsSpace(r) }) == "": // a mark of the byte order is no text
		return &InvalidError{Message: "it is empty; send the text to remember"}
	case len(content) > MaxContent:
		return &InvalidError{Message: fmt.Sprintf("it has %d bytes, and at most %d are taken; divide it by subject", len(content), MaxContent)}
	case !utf8.ValidString(content):
		return &InvalidError{Message: "it is not valid UTF-8; send it as UTF-8"}
	}
	for i, r := range content {
		if hidden(r) && r != '\n' && r != '\r' && r != '\t' {
			return &InvalidError{Line: lineAt(content, i), Message: fmt.Sprintf("it has the control character U+%04X; remove it", r)}
		}
	}
	if kind, at := credential(content); kind != "" {
		return &InvalidError{Line: lineAt(content, at), Message: "it looks like it holds " + kind + "; remove it, because pages are shown to other agents"}
	}
	return nil
}

// hidden reports whether r is a control character, or changes the direction of the
// text around it (Unicode, UAX #9).
func hidden(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029
}

func lineAt(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }

// shapes are credentials that are known by their form.
var shapes = []struct {
	kind    string
	pattern func() *regexp.Regexp
}{
	{"a private key", lazily(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----`)},
	{"an access key of AWS", lazily(`\b(AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{"a token of GitHub", lazily(`\b(gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})`)},
	{"a token of GitLab", lazily(`\bglpat-[A-Za-z0-9_-]{20,}`)},
	{"a token of Slack", lazily(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`)},
	{"a key of Google", lazily(`\bAIza[0-9A-Za-z_-]{35}`)},
	{"a secret key", lazily(`\b[rs]k[-_](live|test|proj|ant)?[-_]?[A-Za-z0-9_-]*[A-Za-z0-9]{20,}`)},
	{"a key of SendGrid", lazily(`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`)},
	{"a key of an Azure account", lazily(`(?i)\b(?:Account|SharedAccess)Key\s*=\s*[A-Za-z0-9+/]{20,}`)},
	{"a token of npm", lazily(`\bnpm_[A-Za-z0-9]{36}`)},
	{"a JSON web token", lazily(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+`)},
	{"a bearer token", lazily(`(?i)\bbearer\s+[A-Za-z0-9._~+/-]{20,}`)},
}

// Patterns whose last group is the value, which must not be a placeholder.
var (
	addressed = lazily(`(?i)\b[a-z][a-z0-9+.-]*://[^\s:/@"']*:([^\s/@"']+)@`)
	chosen    = lazily(`(?im)\b(?:password|passwd|passphrase|pwd)["'` + "`" + `]?[ \t]*(?::=|=>|[:=])[ \t]*["'` + "`" + `]?([^\s"'` + "`" + `,;()]{8,})["'` + "`" + `]?[ \t]*$`)
	// The word for password in other languages, and what follows a colon or an equals sign.
	foreign = lazily(`(?i)(?:пароль|парол[ья]|kennwort|passwort|contraseña|mot de passe|senha|hasło|wachtwoord|lösenord|parola|şifre|パスワード|密码|密碼|口令|비밀번호|كلمة (?:ال)?(?:مرور|سر))["'` + "`" + `]?\s*[:=：＝]\s*["'` + "`" + `]?([^\s"'` + "`" + `,;]{6,})`)
	// The option of a client, without a space before its value.
	option   = lazily(`(?i)\b(?:mysql|mariadb|mysqldump|mariadb-dump|mysqladmin)\b[^\n]*?\s(?:-p|--password=)["']?([^\s"'` + "`" + `,;]{6,})`)
	assigned = lazily(`(?i)(?:pass(?:word|wd|phrase)|pwd|secret|api[_ -]?key|access[_ -]?key|private[_ -]?key|auth[_ -]?token|access[_ -]?token|token|credentials?)["'` + "`" + `]?\s*(?::=|=>|[:=]|\bis\b)\s*["'` + "`" + `]?([^\s"'` + "`" + `,;]{6,})`)
)

// credential returns what kind of credential a text seems to hold, and where. The
// kind is "" if it holds none.
func credential(text string) (kind string, at int) {
	for _, s := range shapes {
		if place := s.pattern().FindStringIndex(text); place != nil {
			return s.kind, place[0]
		}
	}
	for _, place := range addressed().FindAllStringSubmatchIndex(text, -1) {
		if !placeholder(text[place[2]:place[3]]) {
			return "an address with a password", place[0]
		}
	}
	for _, place := range chosen().FindAllStringSubmatchIndex(text, -1) {
		if value := text[place[2]:place[3]]; !placeholder(value) && !strings.ContainsAny(value, "._") {
			return "a password or a token", place[0]
		}
	}
	for _, pattern := range []*regexp.Regexp{assigned(), foreign(), option()} {
		for _, place := range pattern.FindAllStringSubmatchIndex(text, -1) {
			if value := text[place[2]:place[3]]; !placeholder(value) && secretive(value) {
				return "a password or a token", place[0]
			}
		}
	}
	return "", 0
}

// placeholder reports whether a value stands for a secret, such as *** or ${NAME}.
func placeholder(value string) bool {
	lower := strings.ToLower(value)
	switch {
	case strings.ContainsAny(value, "<>{}$%") || strings.Trim(lower, "*x.•…") == "":
		return true
	case strings.HasPrefix(lower, "env:") || strings.HasPrefix(lower, "file:"):
		return true
	}
	switch strings.Trim(lower, `"'`) {
	case "password", "passwd", "pass", "secret", "token", "changeme", "example", "redacted", "hidden", "your_password", "your-password", "required", "optional", "nullable", "encrypted":
		return true
	}
	return false
}

// secretive reports whether a value looks like a secret, and not like a word, a name
// of a column or an expression: it has letters and digits or signs mixed, and no
// brackets.
func secretive(value string) bool {
	letters, digits, signs := 0, 0, 0
	for _, r := range strings.TrimRight(value, ".") {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		case r == '(' || r == ')' || r == '[' || r == ']' || r == '.':
			return false
		case r == '_' || r == '-' || r == '|' || r == '*' || r == '/':
		default:
			signs++
		}
	}
	return letters > 0 && digits+signs > 0 || letters == 0 && digits >= 6
}
