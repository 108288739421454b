package scan

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/ktxhq/ktx/research/catalog"
)

// personalWords are words of column names that say that a column holds data of a
// person, or a secret. Other languages have the words that such columns begin with
// most often.
var personalWords = wordSet(`email mail phone telephone tel mobile cellphone fax address addr street zip zipcode postcode postal birth birthday
	birthdate dob firstname lastname fullname surname forename ssn tax taxid passport iban card creditcard password passwd pwd token
	secret hash salt emailaddress phonenumber streetaddress
	telefon handy adresse strasse plz geburtsdatum geburtstag vorname nachname passwort kennwort steuernummer
	correo telefono direccion calle nacimiento apellido apellidos contrasena prenom courriel adresse naissance
	telefone endereco senha cpf indirizzo cognome nascita codicefiscale`)

// personalPairs are two words that say so together.
var personalPairs = map[[2]string]bool{
	{"first", "name"}: true, {"last", "name"}: true, {"full", "name"}: true, {"given", "name"}: true, {"family", "name"}: true,
	{"middle", "name"}: true, {"maiden", "name"}: true, {"api", "key"}: true, {"private", "key"}: true,
}

// freeTextWords are words of names of columns in which people write sentences, or
// which are different in each row.
var freeTextWords = wordSet(`description descr comment comments note notes message messages body content contents url uri path
	beschreibung bemerkung notiz nachricht kommentar descripcion comentario mensaje descrizione commento messaggio descricao remarque`)

// propertyWords end the name of a column that describes such a thing without holding
// it: phone_model, card_type, tax_rate, url_status.
var propertyWords = wordSet(`model type kind category class classification brand vendor manufacturer provider status state flag rate
	percent percentage pct amount amt currency country region language lang format mode level group count total source channel
	enabled verified confirmed active optin optout priority scheme method version
	typ art modell marke anzahl satz betrag tipo modelo estado`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// excludedByName reports whether a column holds personal data or free text by its
// name. Words decide, not parts of words: postal_code does, and composting does not.
func excludedByName(column string) bool {
	words := nameWords(column)
	if len(words) == 0 {
		return false
	}
	if len(words) > 1 && propertyWords[words[len(words)-1]] {
		return false
	}
	for i, w := range words {
		if personalWords[w] || freeTextWords[w] {
			return true
		}
		if i > 0 && personalPairs[[2]string{words[i-1], w}] {
			return true
		}
	}
	return false
}

// nameWords splits a name into words, in lower case and without marks on letters. A
// word ends at a character that is no letter, and before a capital that begins a word.
func nameWords(name string) []string {
	var out []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			out = append(out, string(word))
			word = word[:0]
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) {
			if !unicode.Is(unicode.Mn, r) { // a mark belongs to its letter
				end()
			}
			continue
		}
		if unicode.IsUpper(r) && i > 0 {
			afterLower := unicode.IsLower(runes[i-1])
			lastOfAcronym := unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if afterLower || lastOfAcronym {
				end()
			}
		}
		word = append(word, []rune(plainLetter(r))...)
	}
	end()
	return out
}

// plainLetter returns a letter in lower case, and without a mark if it is one of the
// letters that the word lists need.
func plainLetter(r rune) string {
	switch r = unicode.ToLower(r); r {
	case 'ß':
		return "ss"
	case 'á', 'à', 'â', 'ã', 'ä':
		return "a"
	case 'é', 'è', 'ê', 'ë':
		return "e"
	case 'í', 'ì', 'î', 'ï':
		return "i"
	case 'ó', 'ò', 'ô', 'õ', 'ö':
		return "o"
	case 'ú', 'ù', 'û', 'ü':
		return "u"
	case 'ñ':
		return "n"
	case 'ç':
		return "c"
	default:
		return string(r)
	}
}

// Patterns name columns as column, table.column or schema.table.column. A * stands for
// any characters of one part. Letters match in both cases.
type Patterns []string

// Validate returns an error for a pattern that cannot match anything.
func (p Patterns) Validate() error {
	for _, pattern := range p {
		parts := strings.Split(pattern, ".")
		if len(parts) > 3 {
			return fmt.Errorf("%q has %d parts; write column, table.column or schema.table.column", pattern, len(parts))
		}
		for _, part := range parts {
			if _, err := path.Match(part, ""); err != nil || part == "" {
				return fmt.Errorf("%q is not a pattern: a part is empty, or a bracket or a backslash has no match", pattern)
			}
		}
	}
	return nil
}

// match reports whether a pattern names the column.
func (p Patterns) match(ref catalog.Ref, column string) bool {
	full := []string{strings.ToLower(ref.DB), strings.ToLower(ref.Name), strings.ToLower(column)}
	for _, pattern := range p {
		parts := strings.Split(strings.ToLower(pattern), ".")
		if len(parts) > len(full) {
			continue
		}
		matched := true
		for i, part := range parts {
			ok, err := path.Match(part, strings.ReplaceAll(full[len(full)-len(parts)+i], "/", "_"))
			matched = matched && ok && err == nil
		}
		if matched {
			return true
		}
	}
	return false
}
