package relatetest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Habit is one way to name tables and columns, and what is wrong with the data.
type Habit struct {
	Name  string
	Held  bool   // not looked at while the constants of the finder were chosen
	Words string // the vocabulary

	Style       string // snake, camel, pascal, joined, upper or spaced
	TableStyle  string // the style of tables, if it is another one
	Key         string // the key word, such as id
	Front       bool   // the key word precedes the name (id_cliente)
	GenericKey  bool   // keys are named by the key word alone (customers.id)
	KeyWord     string // the word of a generic key, if it is another one
	NoKeyWord   bool   // references have no key word (orders.customer)
	RoleBehind  bool   // roles follow the name (id_direccion_entrega)
	TablePrefix string // such as tbl_
	DimPrefix   bool   // dim_ and fct_
	OwnPrefix   bool   // columns begin with the first letter of their table (c_custkey)

	Values      string // integers, codes or uuids
	Undeclared  bool   // no primary keys
	Schemas     bool   // each table is in two schemas, with other rows
	Dirty       bool   // four percent of the references have no target
	Mismatch    bool   // some references are texts, and the keys numbers
	Empty       bool   // some tables have no rows
	PeopleRoles bool   // created_by beside the manager
}

// Habits returns all habits.
func Habits() []Habit {
	return []Habit{
		{Name: "snake, id", Words: "english", Style: "snake", Key: "id", GenericKey: true, PeopleRoles: true},
		{Name: "snake, one name", Words: "english-singular", Style: "snake", Key: "id"},
		{Name: "camel", Words: "english", Style: "camel", TableStyle: "pascal", Key: "id", GenericKey: true, PeopleRoles: true},
		{Name: "dimensions", Words: "english-singular", Style: "snake", Key: "key", DimPrefix: true},
		{Name: "pascal key", Words: "english-singular", Style: "pascal", Key: "key", Undeclared: true},
		{Name: "abbreviations", Words: "english-short", Style: "snake", Key: "no"},
		{Name: "own prefix", Words: "english-singular", Style: "joined", Key: "key", OwnPrefix: true},
		{Name: "fk prefix", Words: "english", Style: "snake", Key: "fk", Front: true, GenericKey: true, KeyWord: "id"},
		{Name: "upper joined", Words: "english", Style: "upper", Key: "id", Undeclared: true},
		{Name: "uuids", Words: "english", Style: "snake", Key: "uuid", Values: "uuids"},
		{Name: "codes", Words: "english", Style: "snake", Key: "code", Values: "codes", Undeclared: true},
		{Name: "no key word", Words: "english", Style: "snake", Key: "id", GenericKey: true, NoKeyWord: true},
		{Name: "undeclared", Words: "english", Style: "snake", Key: "id", GenericKey: true, Undeclared: true, PeopleRoles: true},
		{Name: "two schemas", Words: "english", Style: "snake", Key: "id", Schemas: true},
		{Name: "dirty", Words: "english", Style: "snake", Key: "id", GenericKey: true, Dirty: true},
		{Name: "mismatch", Words: "english", Style: "snake", Key: "id", Mismatch: true},
		{Name: "empty", Words: "english", Style: "snake", Key: "id", Empty: true},
		{Name: "german number", Words: "german", Style: "pascal", Key: "nr"},
		{Name: "german id", Words: "german", Style: "snake", Key: "id", Front: true, Undeclared: true},
		{Name: "german joined", Words: "german", Style: "joined", Key: "nummer", Undeclared: true},
		{Name: "spanish", Words: "spanish", Style: "snake", Key: "id", Front: true, RoleBehind: true},
		{Name: "spanish code", Words: "spanish", Style: "snake", Key: "cod", Front: true, RoleBehind: true, Undeclared: true, Values: "codes"},
		{Name: "french", Words: "french", Style: "snake", Key: "num", Front: true, RoleBehind: true},
		{Name: "russian", Words: "russian", Style: "snake", Key: "код", Front: true, RoleBehind: true, Undeclared: true},
		{Name: "russian id", Words: "russian", Style: "snake", Key: "id", GenericKey: true},
		{Name: "japanese", Words: "japanese", Style: "joined", Key: "ID"},
		{Name: "japanese number", Words: "japanese", Style: "joined", Key: "番号", Undeclared: true},
		{Name: "chinese", Words: "chinese", Style: "joined", Key: "编号", Undeclared: true},
		{Name: "polish", Words: "polish", Style: "snake", Key: "id", Front: true, RoleBehind: true},
		{Name: "turkish", Words: "turkish", Style: "snake", Key: "id", Undeclared: true},
		{Name: "greek", Words: "greek", Style: "snake", Key: "κωδικός", Front: true, RoleBehind: true},

		{Name: "korean", Held: true, Words: "korean", Style: "snake", Key: "번호", Undeclared: true},
		{Name: "korean joined", Held: true, Words: "korean", Style: "joined", Key: "코드"},
		{Name: "arabic", Held: true, Words: "arabic", Style: "snake", Key: "رقم", Front: true, RoleBehind: true},
		{Name: "hebrew", Held: true, Words: "hebrew", Style: "snake", Key: "מספר", Front: true, RoleBehind: true, Undeclared: true},
		{Name: "italian", Held: true, Words: "italian", Style: "camel", Key: "codice", Front: true, RoleBehind: true, Values: "codes"},
		{Name: "swedish", Held: true, Words: "swedish", Style: "snake", Key: "nr", Undeclared: true},
		{Name: "estonian, unknown key word", Held: true, Words: "estonian", Style: "snake", Key: "viit"},
		{Name: "georgian", Held: true, Words: "georgian", Style: "snake", Key: "id", GenericKey: true},
		{Name: "georgian, unknown key word", Held: true, Words: "georgian", Style: "snake", Key: "კოდი", Undeclared: true},
		{Name: "hindi", Held: true, Words: "hindi", Style: "snake", Key: "आईडी"},
		{Name: "thai", Held: true, Words: "thai", Style: "joined", Key: "รหัส", Front: true, Undeclared: true},
		{Name: "unknown key word", Held: true, Words: "english", Style: "snake", Key: "lnk", Undeclared: true},
		{Name: "unknown key word in front", Held: true, Words: "english", Style: "camel", Key: "ptr", Front: true},
		{Name: "tbl prefix", Held: true, Words: "english", Style: "pascal", Key: "ID", TablePrefix: "tbl", Undeclared: true},
		{Name: "application prefix", Held: true, Words: "english", Style: "snake", Key: "id", GenericKey: true, TablePrefix: "shop_", PeopleRoles: true},
		{Name: "spaces", Held: true, Words: "english-singular", Style: "spaced", Key: "number", Undeclared: true},
		{Name: "abbreviations, upper", Held: true, Words: "english-short", Style: "upper-snake", Key: "CD", Undeclared: true, Values: "codes"},
		{Name: "two schemas, dirty", Held: true, Words: "english-singular", Style: "camel", Key: "id", Schemas: true, Dirty: true},
		{Name: "mismatch, undeclared", Held: true, Words: "spanish", Style: "snake", Key: "id", Mismatch: true, Undeclared: true},
		{Name: "empty, generic", Held: true, Words: "french", Style: "snake", Key: "id", GenericKey: true, Empty: true},

		{Name: "arabic, broken plurals", Words: "arabic-broken", Style: "snake", Key: "معرف", Front: true, RoleBehind: true},
		{Name: "persian", Words: "persian", Style: "snake", Key: "شناسه", Front: true, RoleBehind: true, Undeclared: true},
		{Name: "ukrainian", Words: "ukrainian", Style: "snake", Key: "ід", Values: "codes"},
		{Name: "finnish", Words: "finnish", Style: "joined", Key: "tunnus", Undeclared: true},
		{Name: "indonesian", Words: "indonesian", Style: "snake", Key: "kode", Front: true, TablePrefix: "m_"},
		{Name: "hungarian", Words: "hungarian", Style: "camel", Key: "azonosító", GenericKey: true},
		{Name: "vietnamese", Words: "vietnamese", Style: "snake", Key: "mã", Front: true, RoleBehind: true, Dirty: true},
		{Name: "bengali, unknown key word", Words: "bengali", Style: "snake", Key: "সংকেত", Undeclared: true},

		{Name: "portuguese", Words: "portuguese", Style: "snake", Key: "codigo", Front: true, RoleBehind: true, Undeclared: true},
		{Name: "dutch joined", Words: "dutch", Style: "joined", Key: "nummer", Undeclared: true},
		{Name: "danish", Words: "danish", Style: "pascal", Key: "Nr"},
		{Name: "czech", Words: "czech", Style: "snake", Key: "id", Undeclared: true},
		{Name: "romanian", Words: "romanian", Style: "snake", Key: "cod", Front: true, RoleBehind: true, Values: "codes"},
		{Name: "croatian", Words: "croatian", Style: "camel", Key: "sifra", Undeclared: true},
		{Name: "lithuanian, unknown key word", Words: "lithuanian", Style: "snake", Key: "nuoroda", Undeclared: true},
		{Name: "armenian", Words: "armenian", Style: "snake", Key: "id", GenericKey: true},
		{Name: "tamil", Words: "tamil", Style: "snake", Key: "எண்", Undeclared: true},
		{Name: "urdu", Words: "urdu", Style: "snake", Key: "شناخت", Undeclared: true},
		{Name: "kazakh", Words: "kazakh", Style: "snake", Key: "коды", Dirty: true},
		{Name: "swahili", Words: "swahili", Style: "snake", Key: "namba", Front: true, RoleBehind: true, Undeclared: true},

		{Name: "icelandic", Held: true, Words: "icelandic", Style: "snake", Key: "numer", Undeclared: true},
		{Name: "albanian, unknown key word", Held: true, Words: "albanian", Style: "snake", Key: "shenja"},
		{Name: "azerbaijani", Held: true, Words: "azerbaijani", Style: "camel", Key: "id", GenericKey: true},
		{Name: "telugu", Held: true, Words: "telugu", Style: "snake", Key: "సంఖ్య", Undeclared: true},
		{Name: "amharic", Held: true, Words: "amharic", Style: "snake", Key: "id", Undeclared: true},
		{Name: "latvian", Held: true, Words: "latvian", Style: "pascal", Key: "kods", Values: "codes"},
	}
}

// write returns the parts as one name.
func write(style string, parts ...string) string {
	var list []string
	for _, p := range parts {
		list = append(list, strings.Fields(p)...)
	}
	switch style {
	case "snake":
		return strings.ToLower(strings.Join(list, "_"))
	case "upper-snake":
		return strings.ToUpper(strings.Join(list, "_"))
	case "upper":
		return strings.ToUpper(strings.Join(list, ""))
	case "joined":
		return strings.ToLower(strings.Join(list, ""))
	case "spaced":
		for i := range list {
			list[i] = capital(list[i])
		}
		return strings.Join(list, " ")
	}
	for i := range list {
		list[i] = strings.ToLower(list[i])
		if i > 0 || style == "pascal" {
			list[i] = capital(list[i])
		}
	}
	return strings.Join(list, "")
}

func capital(w string) string {
	r, n := utf8.DecodeRuneInString(w)
	return string(unicode.ToUpper(r)) + w[n:]
}

// table returns the name of the table of a concept, such as "order item".
func (h *Habit) table(v vocabulary, concept string) string {
	style := h.Style
	if h.TableStyle != "" {
		style = h.TableStyle
	}
	parts := strings.Fields(concept)
	last := len(parts) - 1
	for i, c := range parts {
		form := 0
		if i < last {
			form = 1
		}
		parts[i] = v[c][form]
	}
	if h.DimPrefix {
		prefix := "dim"
		switch concept {
		case "order", "order item", "shipment", "shipment item", "invoice", "payment":
			prefix = "fct"
		}
		parts = append([]string{prefix}, parts...)
	}
	return h.TablePrefix + write(style, parts...)
}

// column returns the name of an attribute or of a member of a key.
func (h *Habit) column(v vocabulary, concept string, parts ...string) string {
	name := write(h.Style, parts...)
	if h.OwnPrefix {
		r, _ := utf8.DecodeRuneInString(v[strings.Fields(concept)[0]][0])
		return strings.ToLower(string(r)) + "_" + name
	}
	return name
}

// key returns the name of the key of a concept.
func (h *Habit) key(v vocabulary, concept string) string {
	if h.GenericKey {
		if h.KeyWord != "" {
			return h.column(v, concept, h.KeyWord)
		}
		return h.column(v, concept, h.Key)
	}
	return h.column(v, concept, h.join(h.Key, v[concept][1], "")...)
}

// reference returns the name of a column of concept that refers to another concept.
func (h *Habit) reference(v vocabulary, concept, to, role string) string {
	key := h.Key
	if h.NoKeyWord {
		key = ""
	}
	entity := v[to][1]
	if role == "parent" || role == "manager" {
		entity = "" // parent_id
	}
	return h.column(v, concept, h.join(key, entity, v[role][1])...)
}

func (h *Habit) join(key, entity, role string) []string {
	parts := []string{role, entity}
	if h.RoleBehind {
		parts = []string{entity, role}
	}
	if h.Front {
		return append([]string{key}, parts...)
	}
	return append(parts, key)
}
