package rank

import (
	"math"
	"sort"
	"strings"
	"unicode/utf8"
)

// relativeWeight is what a word is worth that begins like a word of a question in another
// language than English, and ends otherwise: most languages inflect at the end.
const relativeWeight = 0.8

// How much two such words share at their beginning: so many letters, and this part of the
// longer one. The rest of the other word has at most so many letters.
const (
	minShared  = 4
	sharedPart = 0.65
	maxEnding  = 4
)

// A language has words that say nothing in a question.
type language struct {
	words    map[string]bool
	inflects bool // words that begin alike are forms of one
}

// languages are other languages than English.
var languages = func() []*language {
	var out []*language
	for line := range strings.Lines(functionWords) {
		name, words, _ := strings.Cut(line, ":")
		l := &language{words: map[string]bool{}, inflects: name != "vietnamese"}
		for w := range strings.FieldsSeq(words) {
			l.words[FoldCode(w)] = true
		}
		out = append(out, l)
	}
	return out
}()

// languageOf returns the language of a question, or nil if it seems to be in English. A
// function word of a language tells of it. One that English has too only counts if there
// is another. Function words of English that the language lacks tell against it.
func languageOf(all []span, fixed func(span) bool) *language {
	var best *language
	most := 0
	for _, l := range languages {
		telling, shared, english := 0, 0, 0
		for _, s := range all {
			switch {
			case s.whole, s.gram, fixed(s):
			case l.words[s.word] && (len(s.word) == 1 || alsoEnglish[s.word] || stopWords[s.word]):
				shared++
			case l.words[s.word]:
				telling++
			case stopWords[s.word]:
				english++
			}
		}
		if score := 2*telling + shared - 2*english; telling > 0 && score > most {
			best, most = l, score
		}
	}
	return best
}

// relatives returns the words of the index that begin like a word and end otherwise.
func (x *Index) relatives(word string) []variant {
	n := utf8.RuneCountInString(word)
	least := max(minShared, needed(n))
	if n < least {
		return nil
	}
	prefix := string([]rune(word)[:least])
	var out []variant
	for i := sort.SearchStrings(x.words, prefix); i < len(x.words) && strings.HasPrefix(x.words[i], prefix); i++ {
		if x.kinds[i]&kindWord == 0 || x.kinds[i]&kindGram != 0 {
			continue
		}
		if relative(word, x.words[i]) {
			out = append(out, variant{uint32(i), relativeWeight}) //nolint:gosec // there are fewer than 2^32 in memory
		}
	}
	return out
}

// needed returns how many of n letters have to be shared.
func needed(n int) int { return int(math.Ceil(float64(sharedPart * float64(n)))) }

// relative reports whether another word seems to be another form of a word.
func relative(word, other string) bool {
	shared := 0
	for a, b := word, other; a != "" && b != ""; shared++ {
		r, size := utf8.DecodeRuneInString(a)
		if q, _ := utf8.DecodeRuneInString(b); r != q {
			break
		}
		a, b = a[size:], b[size:]
	}
	n, m := utf8.RuneCountInString(word), utf8.RuneCountInString(other)
	return shared >= max(minShared, needed(max(n, m))) && m-shared <= maxEnding
}

// ascii reports whether a folded word has letters and digits of ASCII alone.
func ascii(word string) bool {
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// alsoEnglish are function words of other languages that are words of English too, or
// parts of names, or words of several languages.
var alsoEnglish = func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(`non take die war den man bald also hat gut not sind an am as in on to do is he me we so no se de la le el les des du ce un son sans sur pour plus est par con
sin una los las por para como comes da das dos com mais nao em os um uma il lo gli per tra fra van het een met men om over of door er te uit al bij
dit dan nog toe zo for med en det att har som var vi i och av ett till nu ved kan skal at og af han hun der fik po za od co na w z o ma ten si a sa pe
ca cum ale mi mai ne ve bir ile bu ki ben sen biz siz her az bat bin yok ez be meg fel ha vagy volt ja ei jo kun nyt mina ada di yang ini itu ke dari
untuk dengan apa cara bisa pada saya va cho cac trong mot gi nam ai ra`) {
		set[w] = true
	}
	return set
}()

// functionWords has a language in each line.
const functionWords = `german: der die das den dem des ein eine einer einen einem eines und oder aber ist sind war waren wird werden wurde wurden hat haben hatte kann können muss müssen soll sollen darf dürfen mit von vom zu zum zur im in an am auf aus bei beim für nach über unter um durch gegen ohne als wie was wer wo wann warum weshalb welche welcher welches welchen welchem wieviel wieviele viel viele ich du er sie es wir ihr mich mir dich dir sich man mein meine meinen meiner dein ihre ihren ihrem seine nicht kein keine keinen auch noch nur so dass ob wenn weil dann da hier gibt gebe alle alles jede jeder diese dieser dieses diesen diesem denn doch etwa bitte mal zeige zeigen nenne nennen liste finde finden ermittle berechne bestimme
french: le la les l un une des du de d et ou mais est sont était étaient sera être été a ont avait avoir peut peuvent doit doivent faut avec sans pour par sur sous dans en chez vers entre au aux que qui quoi quel quelle quels quelles qu où quand comment pourquoi combien je tu il elle on nous vous ils elles me te se ce cet cette ces mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs ne pas plus non si y n s c j m t dont lequel laquelle lorsque afin fait faire donc alors comme tout tous toute toutes quelqu affiche affichez afficher montre montrez donne donnez listez lister trouve trouvez trouver indiquez quelles
spanish: el la los las un una unos unas y o u pero es son era eran fue fueron ser está están hay ha han había haber puede pueden debe deben hacer hace con sin para por sobre bajo entre en de del al a que qué quién quiénes cuál cuáles cómo cuándo dónde cuánto cuántos cuánta cuántas porque yo tú él ella nosotros ellos ellas me te se le les lo mi mis tu tus su sus nuestro nuestra no más muy si sí también este esta estos estas ese esa eso como cual cuando donde tengo tiene tienen muestra muestre mostrar muéstrame dame enumera enumere encuentra encuentre listar
italian: il lo la i gli le un uno una l e o ma è sono era erano sarà essere ha hanno aveva avere può possono deve devono fare con senza per su sotto tra fra in di del dello della dei degli delle al allo alla ai agli alle dal dalla nel nella nei nelle sul sulla che chi cosa quale quali come quando dove perché quanto quanti quanta quante io tu lui lei noi voi loro mi ti si ci vi mio mia miei tuo suo sua suoi non più anche questo questa questi queste c se mostra mostrami trova elenca elencare
portuguese: o a os as um uma uns umas e ou mas é são era eram foi foram ser está estão há tem têm tinha ter pode podem deve devem fazer com sem para por sobre sob entre em no na nos nas de do da dos das ao aos à às que quem qual quais como quando onde quanto quantos quanta quantas porque eu tu ele ela nós eles elas você vocês me te se lhe meu minha meus minhas seu sua seus suas não mais muito também este esta estes estas esse essa isso mostre mostra mostrar encontre liste listar
dutch: de het een en of maar is zijn was waren wordt worden heeft hebben had kan kunnen moet moeten mag mogen met van voor naar door om op in aan uit bij over onder tegen zonder als hoe wat wie waar wanneer waarom welke welk hoeveel ik jij je u hij zij ze wij we jullie mijn jouw uw hun ons onze niet geen ook nog dat die dit deze er dan te toon geef vind
swedish: en ett den det de och eller men är var blir har hade kan måste ska skall får med av för till från på i om under över utan mot som hur vad vem när varför vilken vilket vilka många mycket jag du han hon vi ni mig dig sig min mitt mina din ditt dina sin sitt sina inte också att finns man
danish: en et den det de og eller men er var bliver blev har havde kan må skal får med af for til fra på i om under over uden mod som hvordan hvad hvem hvor hvornår hvorfor hvilken hvilket hvilke mange meget jeg du han hun vi mig dig sig min mit mine din dit dine sin sit sine ikke også at findes man
norwegian: en et ei den det de og eller men er var blir ble har hadde kan må skal får med av for til fra på i om under over uten mot som hvordan hva hvem hvor når hvorfor hvilken hvilket hvilke mange mye jeg du han hun vi meg deg seg min mitt mine din ditt dine sin sitt sine ikke også at finnes man
polish: i oraz lub albo ale jest są był była było były będzie być ma mają miał może mogą musi muszą trzeba można z ze bez dla do od na w we o po przez przy pod nad za między jak co kto gdzie kiedy dlaczego czemu który która które jaki jaka jakie ile ja ty on ona my wy oni mnie mi się mój moja moje swój nie też także czy że to ten ta te tego tej tych jeśli pokaż znajdź podaj wyświetl wymień
czech: a i nebo ale je jsou byl byla bylo byly bude být má mají měl může mohou musí lze s se bez pro do od na v ve o po přes při pod nad za mezi jak co kdo kde kdy proč který která které jaký jaká jaké kolik já ty on ona my vy oni mě mi můj moje svůj ne také že to ten ta tento tato pokud
hungarian: a az egy és vagy de van vannak volt voltak lesz lenni kell lehet meg el ki be fel le hogy mi mit kit hol mikor miért melyik milyen hogyan hány mennyi én te ő ti ők nem is csak ez ezek azok ha mert mint
finnish: ja tai mutta on ovat oli olivat olla voi voivat pitää täytyy ei en et mikä mitä kuka kenen missä mistä mihin milloin miksi kuinka miten mitkä monta paljon minä sinä hän me te he minun sinun sen se ne tämä nämä että jos kun myös
romanian: și sau dar este sunt era erau fost fi fie are au avea poate pot trebuie cu fără pentru de din la în pe peste sub între prin după ce cine care când cum unde câți câte cât eu tu el ea noi voi ei ele mă te se îmi meu mea săi său sa lor lui nu mai foarte acest această acești aceste un o unei unui al ale cel cea
turkish: ve veya ama ile için bir bu şu o bunlar da de ki mi mı mu mü midir mıdır ne neden niçin nasıl nerede nereye nereden zaman kim kimin kime hangi hangisi kaç kadar gibi göre daha en çok her hiç ise değil var yok olan olarak oldu olur olduğu edilen tarafından sonra önce ben sen biz siz onlar benim nedir kimdir nelerdir kimlerdir hangileridir göster gösterin listele listeleyin bul bulun ver getir sırala olanların
russian: и или но а что чтобы как какой какая какое какие какого каких каким какими который которая которое которые кто кого кому кем где куда откуда когда почему зачем сколько чей чья в во на с со из от до по за под над у о об при для без через между к ко не ни же ли бы это этот эта эти этого этой этих тот та те того той тех я ты он она оно мы вы они его её их мой моя мои свой был была было были есть быть будет может можно нужно надо если так также только уже ещё покажи покажите найди найдите перечисли перечислите выведи выведите укажи укажите верни верните дай назови
ukrainian: і або але а що щоб як який яка яке які якого яких хто кого кому де куди звідки коли чому скільки в у на з із зі від до по за під над о об при для без через між к не ні ж чи би це цей ця ці того тієї тих я ти він вона ми ви вони його її їх мій моя мої свій був була було були є бути буде може можна треба якщо так також тільки
arabic: و أو لكن في من إلى على عن مع ب ل ما ماذا متى أين كيف لماذا كم أي هل هو هي هم هذا هذه ذلك تلك التي الذي الذين كان كانت يكون تكون هناك لا لم لن قد كل بعد قبل عند بين أن إن إذا كما أنا نحن أنت هما ها اعرض أظهر اذكر أعط جد أوجد
persian: و یا اما در از به با برای که چه چی کی کجا چرا چگونه چطور چند چقدر کدام است هست هستند بود بودند شد شده می را این آن ها های من تو او ما شما آنها هر هم نیز تا یک اگر
greek: και ή αλλά ο η το οι τα του της των τον την τους τις στο στη στην στον στα στους στις σε από με για ως προς χωρίς μετά πριν κατά είναι ήταν έχει έχουν είχε θα να που πού πότε πώς πως τι ποιος ποια ποιο ποιοι ποιες ποιον πόσο πόσα πόσοι πόσες γιατί εγώ εσύ αυτός αυτή αυτό αυτά μου σου μας σας δεν μη μην ένα ένας μια μία αν όταν
hindi: और या लेकिन है हैं था थी थे हो होता होती होते का की के को में से पर ने तक लिए साथ क्या कौन कब कहाँ क्यों कैसे कितना कितने कितनी किस किसने किसका किसकी किसके सा सी यह वह ये वे इस उस इन उन मैं हम तुम आप मेरा मेरी अपना अपने नहीं भी ही तो एक जो कि कर किया गया जा सकता
indonesian: yang dan atau tetapi di ke dari pada dengan untuk oleh adalah ialah itu ini ada tidak bukan bisa dapat harus apa siapa mana kapan mengapa kenapa bagaimana berapa saya aku kamu anda dia kami kita mereka akan sudah telah juga jika dalam
vietnamese: và hoặc nhưng là của có không được bị cho với từ đến trong trên dưới ở tại vào ra về những các một này đó kia gì nào ai đâu khi sao bao nhiêu thế tôi bạn anh chị nó họ chúng đã đang sẽ cũng thì mà nếu như hiển thị liệt kê cho biết`
