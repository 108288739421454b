package dictionarytest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"
)

// script is how words of one language look.
type script struct {
	name      string
	syllables []string
	from, to  int    // syllables a word
	space     string // between words
	forms     [][2]string
	cased     bool
}

// The forms are words at the end of a name, with their abbreviation.
var scripts = []script{
	{
		name: "english", from: 2, to: 4, space: " ", cased: true,
		syllables: strings.Fields("ba ber cal dor el fin gar hol in jen ka lam mor nel o pen qui ros san ter un vel wil xan yor zed ston ford ham wick ley"),
		forms:     [][2]string{{"Corporation", "Corp."}, {"Limited", "Ltd"}, {"Company", "Co."}, {"International", "Intl"}, {"Department", "Dept"}, {"Street", "St."}},
	},
	{
		name: "german", from: 2, to: 4, space: " ", cased: true,
		syllables: strings.Fields("bä brü dor ei fürst grö hau jä kö lich mün neu ö pfer rei schö stein trau ü wal zür burg berg heim ße ross"),
		forms:     [][2]string{{"Straße", "Str."}, {"Gesellschaft", "Ges."}, {"Abteilung", "Abt."}},
	},
	{
		name: "french", from: 2, to: 4, space: " ", cased: true,
		syllables: strings.Fields("â bé cô dré è fran gué hé île jo lè mê né ô pré qué ré sœ té ü vê çon lieu mont saint eau"),
		forms:     [][2]string{{"Société", "Sté"}, {"Avenue", "Av."}, {"Boulevard", "Bd"}},
	},
	{
		name: "polish", from: 2, to: 4, space: " ", cased: true,
		syllables: strings.Fields("bła cze dę gó ja ką ło mię no ńsk ó prze rzy ści tró wę zał żu źle łódź wał"),
		forms:     [][2]string{{"Ulica", "Ul."}, {"Spółka", "Sp."}},
	},
	{
		name: "turkish", from: 2, to: 4, space: " ", cased: true,
		syllables: strings.Fields("ağ baş çı dır ek fı gül ış iz kı lü mış nı öz pı rüş sı şe tı ül ver yı İs Iğ"),
		forms:     [][2]string{{"Sokağı", "Sok."}, {"Şirketi", "Şti."}},
	},
	{
		name: "nordic", from: 2, to: 4, space: " ", cased: true,
		syllables: strings.Fields("å bø dæ fjø gå hø ið jæ kø lå mør nø ø på ræ sø tå þór vå ås æv"),
		forms:     [][2]string{{"Gaten", "Gt."}},
	},
	{
		name: "greek", from: 2, to: 4, space: " ", cased: true,
		syllables: strings.Fields("ά βί γου δή έ ζω θά ίο κα λό μπα νί ξέ ό πα ρή σί τάς υ φώ χία ψη ώς ος ης"),
		forms:     [][2]string{{"Εταιρεία", "Ετ."}, {"Λεωφόρος", "Λεωφ."}},
	},
	{
		name: "russian", from: 2, to: 4, space: " ", cased: true,
		syllables: strings.Fields("ба вя гор дё жи зна ё ки лю мо ни о пет ры ско ту фё ха цы чу ша щи эль ю я град ово"),
		forms:     [][2]string{{"Улица", "Ул."}, {"Компания", "Комп."}, {"Область", "Обл."}},
	},
	{
		name: "arabic", from: 2, to: 4, space: " ",
		syllables: strings.Fields("با تي ثو جا حي خو دا ذي رو زا سي شو صا ضي طو ظا عي غو فا قي كو لا مي نو ها وي يا أم إب آل"),
		forms:     [][2]string{{"شركة", "شر"}, {"شارع", "ش"}},
	},
	{
		name: "hebrew", from: 2, to: 4, space: " ",
		syllables: strings.Fields("בא גי דו הא וי זו חא טי יו כא לי מו נא סי עו פא צי קו רא שי תו"),
		forms:     [][2]string{{"רחוב", "רח"}, {"חברה", "חב"}},
	},
	{
		name: "thai", from: 3, to: 5,
		syllables: strings.Fields("กรุง เทพ บาง รัก ศรี นคร ปทุม ธานี สุข วิท ลาด พร้าว ชล บุรี เชียง ใหม่ หาด ใหญ่ ดี มา น้ำ ทอง"),
	},
	{
		name: "chinese", from: 3, to: 5,
		syllables: strings.Fields("北 京 上 海 广 州 深 圳 天 津 重 庆 南 西 安 武 汉 成 都 长 沙 青 岛 大 连 厦 门 明 华 龙 兴 福 德"),
	},
	{
		name: "japanese", from: 3, to: 5,
		syllables: strings.Fields("東 京 ト ヨ タ 大 阪 さくら ホン ダ 電 機 ソニ ー 工 業 名 古 屋 ミツ ビシ 銀 行 商 会 ガラ ス"),
	},
	{
		name: "korean", from: 2, to: 4, space: " ",
		syllables: strings.Fields("서 울 부 산 인 천 대 구 광 주 전 수 원 성 남 한 국 현 삼 엘 지 기 아 롯 데"),
	},
	{
		name: "hindi", from: 2, to: 4, space: " ",
		syllables: strings.Fields("दि ल्ली मुं बई को का ता चे न्नै पु णे ज पुर आ गरा भो पाल ना ग सू रत"),
	},

	// The scripts below were added when the search was finished.
	{
		name: "ukrainian", from: 2, to: 4, space: " ", cased: true,
		syllables: strings.Fields("ба ві ґан дні єв жит зап їж йо кри льв мі нов об'є п'я рів ськ тер у'є фа харк че шиї ща юр яв"),
		forms:     [][2]string{{"Вулиця", "Вул."}, {"Підприємство", "Підпр."}},
	},
	{
		name: "vietnamese", from: 1, to: 2, space: " ", cased: true,
		syllables: strings.Fields("nguyễn trần lê phạm hoàng huỳnh vũ võ đặng bùi đỗ hồ ngô dương lý đường phố quận thị trường giang ệt ữ ợp"),
		forms:     [][2]string{{"Đường", "Đ."}, {"Công Ty", "Cty"}},
	},
	{
		name: "armenian", from: 2, to: 4, space: " ", cased: true,
		syllables: strings.Fields("ար բե գյո դի երև զա է թա ժո ին լո խա ծա կա հա ձո ղա ճե մա յա նո շի ո չա պե ջր սա վա տի րա ցո ու փա քի օ"),
	},
	{
		name: "georgian", from: 2, to: 4, space: " ",
		syllables: strings.Fields("ბა გო და ელ ვა ზუ თბ ილ კუ ლი მთ ნა ოზ პი ჟო რუს სა ტყ უ ფო ქა ღვ ყი შო ჩა ცხ ძმ წყ ჭა ხა ჯო ჰე"),
	},
	{
		name: "bengali", from: 2, to: 4, space: " ",
		syllables: strings.Fields("ঢা কা চট্ট গ্রা ম রা জ শা হী খু ল না সি লে ট ব রি শাল রং পুর কু মি ল্লা যশো য়া ড়ি"),
	},
	{
		name: "tamil", from: 2, to: 4, space: " ",
		syllables: strings.Fields("செ ன்னை ம து ரை கோ வை சே ல ம் தி ரு ச்சி நெ ல் லை ஈ ரோ டு வே லூ ர் தூ த் கொ டை"),
	},
	{
		name: "amharic", from: 2, to: 4, space: " ",
		syllables: strings.Fields("አ ዲስ በ ባ ጎን ደር መ ቀ ሌ ሐ ዋ ሳ ጅ ማ ድ ሬ ዳ ዋ ላ ሊ በ ላ አር ባ ምን ጭ"),
	},
	{
		name: "urdu", from: 2, to: 4, space: " ",
		syllables: strings.Fields("کر اچی لا ہور پشا ور کو ئٹہ ملتا ن گو جرا سیا لکو ٹ فیص ل آباد ڈی رہ ژو بھ گھ یے ں"),
	},
}

// word makes a word.
func (s *script) word(r *rand.Rand) string {
	var b strings.Builder
	for range s.from + r.IntN(s.to-s.from+1) {
		b.WriteString(s.syllables[r.IntN(len(s.syllables))])
	}
	if !s.cased {
		return b.String()
	}
	return capital(b.String())
}

func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// phrase makes words with spaces.
func (s *script) phrase(r *rand.Rand, words int) string {
	list := make([]string, words)
	for i := range list {
		list[i] = s.word(r)
	}
	return strings.Join(list, s.space)
}

// A shape makes the values of one column.
type shape struct {
	name string
	make func(r *rand.Rand, s *script) string
}

var shapes = []shape{
	{"city", func(r *rand.Rand, s *script) string {
		if r.IntN(3) == 0 && s.space != "" {
			return s.word(r) + "-" + s.word(r)
		}
		return s.word(r)
	}},
	{"person", func(r *rand.Rand, s *script) string {
		if s.space == "" {
			return s.word(r)
		}
		return s.word(r) + ", " + s.word(r)
	}},
	{"company", func(r *rand.Rand, s *script) string {
		name := s.phrase(r, 1+r.IntN(2))
		if len(s.forms) > 0 {
			name += s.space + s.forms[r.IntN(len(s.forms))][0]
		}
		return name
	}},
	{"organisation", func(r *rand.Rand, s *script) string { return s.phrase(r, 3+r.IntN(2)) }},
	{"category", func(r *rand.Rand, s *script) string {
		if s.space == "" {
			return s.word(r)
		}
		return s.word(r) + " & " + s.word(r)
	}},
}

// codes make identifiers.
var codes = []shape{
	{"sku", func(r *rand.Rand, _ *script) string {
		return fmt.Sprintf("%s-%04d/%d", capitals(r, 2), r.IntN(10000), r.IntN(10))
	}},
	{"invoice", func(r *rand.Rand, _ *script) string { return fmt.Sprintf("INV%d.%05d", 2020+r.IntN(6), r.IntN(100000)) }},
	{"part", func(r *rand.Rand, _ *script) string {
		return fmt.Sprintf("%03d %s %03d", r.IntN(1000), capitals(r, 3), r.IntN(1000))
	}},
	{"serial", func(r *rand.Rand, _ *script) string {
		return fmt.Sprintf("%s%d%s", capitals(r, 3), 100000+r.IntN(900000), capitals(r, 1))
	}},
	{"account", func(r *rand.Rand, _ *script) string {
		return fmt.Sprintf("%04d-%04d-%04d", r.IntN(10000), r.IntN(10000), r.IntN(10000))
	}},
}

func capitals(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[r.IntN(26)]
	}
	return string(b)
}
