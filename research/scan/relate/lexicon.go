package relate

// keyWords say that a column holds a key. They are folded. Words of languages that
// are not listed are found by how the columns of a database are named (see affixes).
var keyWords = set(
	"id", "ids", "key", "code", "no", "nr", "num", "number", "uuid", "guid", "sk", "cd", "fk", "pk", "ref", "nbr", "oid", "uid", "bk", "nk",
	"ident", "identifier", "sid", "rid", "idx", "fkey", "pkey", "skey", "hk",
	// German, Dutch, the Nordic languages, Finnish
	"nummer", "schlussel", "kennung", "sleutel", "nyckel", "tunnus", "kode", "kod", "lopnr",
	// French, Spanish, Portuguese, Italian, Romanian, Catalan
	"numero", "codigo", "cod", "clave", "chave", "cle", "codice", "chiave", "identifiant", "identificador", "identificativo", "nro", "codi", "cve",
	// Polish, Czech, Hungarian, Turkish, Indonesian, Vietnamese
	"klucz", "numer", "cislo", "klic", "azonosito", "szam", "numara", "numarasi", "kodu", "kimlik", "nomor",
	// Russian, Ukrainian, Bulgarian, Greek
	"код", "номер", "ид", "идентификатор", "ключ", "κωδικοσ", "κωδ", "αριθμοσ", "αναγνωριστικο",
	// Chinese, Japanese, Korean
	"编号", "编码", "代码", "号码", "标识", "主键", "編號", "代碼", "號碼", "番号", "コード", "キー", "識別子", "번호", "코드", "아이디", "키", "식별자",
	// Arabic, Hebrew, Persian, Hindi, Thai
	"رقم", "معرف", "رمز", "كود", "מזהה", "מספר", "קוד", "شناسه", "کد", "आईडी", "क्रमांक", "कोड", "รหัส", "เลขที่",
	// Croatian, Lithuanian, Latvian, Ukrainian, Bulgarian, Bengali, Tamil, Urdu, Georgian, Armenian
	"sifra", "broj", "kodas", "numeris", "kods", "numurs", "ід", "ідентифікатор", "шифър", "আইডি", "குறியீடு", "نمبر", "კოდი", "ნომერი", "կոդ", "համար",
)

// markers are key words that say that a column refers to another table. They stand
// beside another key word (fk_customer_id), or alone (fk_customer).
var markers = set("fk", "ref", "fkey", "pk", "pkey")

// layers are words at the start of table names that say which layer of a warehouse
// or which kind of object a table is, and not what it holds.
var layers = set(
	"stg", "staging", "stage", "dim", "fct", "fact", "raw", "src", "int", "mart", "ods", "dwh", "dw", "edw", "base", "tbl", "tb", "tab", "t", "d", "f",
	"vw", "v", "lkp", "lu", "brg", "hub", "sat", "snap", "snapshot", "mst", "ref", "tmp", "mv", "m",
)

// tailLayers are the same at the end of table names.
var tailLayers = set("dim", "fct", "fact", "tbl", "table", "mst", "master", "t", "v", "vw", "view", "all", "stg", "raw", "マスタ", "マスター", "テーブル", "마스터", "테이블")

// tailMarks are the same in scripts that do not separate words.
var tailMarks = []string{"信息表", "一覧", "信息", "表"}

// generic are names of columns that many tables have and that say nothing about
// where the values come from.
var generic = set(
	"name", "title", "type", "status", "state", "date", "time", "year", "month", "day", "description", "value", "amount", "total", "count", "rank", "position", "version", "level",
	"category", "comment", "note", "text", "label", "kind", "flag", "active", "quantity", "qty", "price", "zip", "zipcode", "city", "country", "address", "phone", "email",
	"createdat", "updatedat", "deletedat", "timestamp", "sort", "order", "seq", "sequence", "line", "row", "rownumber", "index", "age", "gender", "sex", "language", "url", "rowguid", "phonenumber", "linenumber", "lineno", "firstname", "lastname",
)

// selfWords name a row of the same table.
var selfWords = set(
	"parent", "root", "ancestor", "predecessor", "successor", "previous", "prev", "next", "superior", "original", "duplicate", "replaces", "replaced", "child", "sub", "super",
	"eltern", "vater", "ubergeordnet", "ubergeordnete", "vorganger", "nachfolger", "padre", "pere", "pai", "genitore", "rodzic", "nadrzedny", "ust", "ebeveyn", "predchozi", "szulo", "overordnet", "foralder", "ouder",
	"родитель", "родительский", "родительская", "предок", "γονεασ", "親", "父", "上级", "上級", "父级", "부모", "상위", "والد", "الاب", "اب", "أصل", "הורה", "अभिभावक",
	"parinte", "rodic", "nadradeny", "nadradena", "roditelj", "nadredeni", "родител", "батьківський", "батьківська", "ylempi", "vanhempi", "ylem", "vanem", "tevinis", "vecaks", "foreldre", "pare", "cha", "induk",
	"মূল", "অভিভাবক", "பெற்றோர்", "पालक", "მშობელი", "ծնող", "แม่",
)

// personWords are roles that people have. A column named by one of them refers to
// people, and in a table of people to the same table.
var personWords = set(
	"manager", "mgr", "boss", "supervisor", "head", "lead", "leader", "owner", "author", "creator", "editor", "reviewer", "approver", "assignee", "sender", "recipient", "receiver", "reporter", "requester", "operator", "agent", "chief", "director", "mentor", "teacher", "coach", "buddy", "handler", "inspector", "responsible", "salesperson", "salesrep", "rep", "mother", "father", "spouse", "partner", "husband", "wife", "sibling", "friend", "guardian",
	"vorgesetzter", "vorgesetzte", "leiter", "chef", "bearbeiter", "ersteller", "besitzer", "jefe", "gerente", "supervisor", "responsable", "capo", "chefe", "superieur", "kierownik", "przelozony", "mudur", "yonetici", "nadrizeny", "vedouci", "leidinggevende",
	"руководитель", "начальник", "менеджер", "автор", "προισταμενοσ", "διευθυντησ", "上司", "担当者", "管理者", "经理", "主管", "负责人", "관리자", "담당자", "상사", "مدير", "مشرف", "رئيس", "מנהל", "प्रबंधक",
	"sef", "veduci", "voditelj", "rukovoditelj", "ръководител", "мениджър", "керівник", "відповідальний", "esimies", "paallikko", "johtaja", "vastuuhenkilo", "leder", "sjef", "juht", "juhataja", "vadovas", "vaditajs", "vezeto", "fonok", "sorumlu", "amir",
	"responsavel", "encargado", "quanly", "truongphong", "atasan", "manajer", "kepala", "meneja", "msimamizi", "ব্যবস্থাপক", "மேலாளர்", "व्यवस्थापक", "მენეჯერი", "ხელმძღვანელი", "ղեկավար", "مدیر", "سرپرست", "مسؤول", "ผู้จัดการ", "หัวหน้า",
)

// personPreposition ends or begins names such as created_by, reports_to, assigned_to
// and by_user.
var personPreposition = set("by", "to", "von", "par", "por", "durch")

// joinedRoles are names with a preposition that are written together.
var joinedRoles = set("reportsto", "assignedto", "createdby", "updatedby", "modifiedby", "approvedby", "changedby", "deletedby", "enteredby", "reviewedby", "ownedby", "managedby")

// peopleTables are words for tables of people, folded and in the singular. Those
// that come first are the better targets.
var peopleTables = []string{
	"employee", "staff", "worker", "personnel", "mitarbeiter", "angestellter", "empleado", "employe", "funcionario", "dipendente", "impiegato", "pracownik", "calisan", "personel", "medewerker", "ansatt", "medarbetare", "zamestnanec", "dolgozo",
	"сотрудник", "работник", "работники", "υπαλληλοσ", "εργαζομενοσ", "社員", "従業員", "職員", "员工", "職員", "직원", "사원", "موظف", "עובד", "कर्मचारी", "พนักงาน",
	"angajat", "zaposlenik", "zaposleni", "radnik", "служител", "працівник", "співробітник", "työntekijä", "työntekijät", "henkilosto", "medarbeider", "medarbejder", "töötaja", "darbuotojas", "darbinieks", "empleat",
	"nhanvien", "karyawan", "pegawai", "কর্মচারী", "ஊழியர்", "თანამშრომელი", "աշխատակից", "کارمند", "عامل", "mfanyakazi",
	"user", "account", "appuser", "benutzer", "usuario", "utilisateur", "utente", "uzytkownik", "kullanici", "gebruiker", "пользователь", "χρηστησ", "ユーザー", "利用者", "用户", "사용자", "مستخدم", "משתמש", "ผู้ใช้",
	"person", "member", "persona", "personne", "pessoa", "osoba", "kisi", "mitglied", "человек", "ατομο", "人員", "人员", "회원", "会員", "شخص", "אדם", "contact", "individual", "party",
}

// professions are words for people of one calling. Their tables are the target of a role
// where values can confirm it.
var professions = []string{
	"physician", "doctor", "nurse", "teacher", "instructor", "professor", "faculty", "student", "pupil", "player", "athlete", "driver", "agent", "seller", "author", "artist", "researcher", "scientist",
}

// set returns the set of the words, folded.
func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[fold(w)] = true
	}
	return m
}
