package wiki

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ktxhq/ktx/research/rank"
)

// synonymWeight is what a synonym of a word is worth, beside the word itself.
const synonymWeight = 0.5

// thesaurus has words of trade, money, people and computing that writers use for one
// another, in their base form. The words of a line are synonyms.
const thesaurus = `
customer client buyer consumer shopper purchaser patron
employee staff personnel worker colleague workforce headcount
revenue turnover sales income takings
profit margin earnings gain
purchase buy order acquire
product article item good merchandise ware
price cost charge fee rate
cost expense expenditure spend spending
refund reimbursement return repayment
discount rebate reduction markdown
voucher coupon promo promotion
invoice bill
pay payment settle remittance
salary wage pay remuneration compensation
supplier vendor provider
store shop branch outlet
warehouse depot
stock inventory supply
delivery shipment shipping dispatch transport freight
parcel package consignment shipment
carrier courier
late delay delayed overdue tardy
cancel terminate end stop quit abort
churn attrition leave loss defection
subscription plan membership contract
subscriber member
recurring regular repeated
active engaged live
user visitor person account
visit session
advertisement ad advert banner
campaign promotion
lead prospect
company firm business organisation organization enterprise
small little minor
big large major
average mean
share percentage proportion ratio rate fraction
total sum overall
amount quantity volume
count number
start begin commence
end finish close conclude
define definition meaning mean
calculate compute derive determine
include contain comprise
exclude omit ignore skip filter
duplicate double copy
merge combine join consolidate
delete erase remove purge
error mistake fault defect
broken defective damaged faulty
quality grade
grade mark score
score rating points
exam test
student pupil learner
course class lesson
teacher instructor
doctor physician
hospital clinic
illness disease diagnosis sickness
sick ill
patient inpatient
flight plane aircraft
hotel lodging accommodation
guest visitor
room chamber
night overnight
car vehicle automobile
tax vat levy duty
country nation state
city town
address location
postcode zip postal
phone telephone mobile
mail email message letter
picture image photo
date day
year annual yearly
month monthly
week weekly
quarter quarterly
hour hourly
holiday vacation leave
timezone zone
currency money
exchange convert conversion
loan credit debt
default insolvency bankruptcy
insurance policy cover
claim damage loss
risk danger hazard
fraud scam deception
suspicious fraudulent
reject decline refuse deny
approve authorise authorize permit allow
permission access right
privacy confidential personal
secret confidential
owner holder responsible
department division unit team
manager boss supervisor
contractor freelancer external
hire recruit
machine equipment device
downtime outage stop
maintenance repair service
repair fix mend
waste scrap
energy power electricity
emission co2 carbon greenhouse
fuel petrol gas
temperature heat
weight mass
length size
site location plant facility
factory plant
produce manufacture make
raw unprocessed
temporary scratch
table relation
column field attribute
row record entry
view report dashboard
refresh update reload load
history archive past
old legacy former
new recent
current present
forecast prediction projection estimate
estimate approximate guess
target goal objective
growth increase rise
decrease decline drop fall
compare comparison benchmark
category group class segment kind type
segment tier cohort
bot robot crawler
click tap
open view
game play
song track music
listen play stream
player gamer
gift present voucher
loyalty faithful
satisfaction happiness
satisfied happy content
complaint grievance
ticket request case issue
support help assistance service
answer reply respond response
fast quick rapid
question query
survey poll questionnaire
recommend promote
experiment trial test
variant version group
trial demo test
free gratis complimentary
employee internal
fake dummy bogus
authorisation approval
bonus reward point
expire lapse
expiry expiration
kunde auftraggeber käufer
umsatz erlös einnahmen
rechnung faktura
lieferung sendung versand
steuer abgabe
`

// groups are the lines of the thesaurus in which a word is.
var groups = func() map[string][][]string {
	out := map[string][][]string{}
	for line := range strings.Lines(thesaurus) {
		words := strings.Fields(rank.Fold(line))
		for _, w := range words {
			out[w] = append(out[w], words)
		}
	}
	return out
}()

// synonyms returns the synonyms of a word in any of its forms, sorted.
func synonyms(word string) []string {
	var out []string
	for _, form := range forms(word) {
		for _, group := range groups[form] {
			out = append(out, group...)
		}
		if len(out) > 0 {
			break
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(s string) bool { return slices.Contains(forms(word), s) })
}

// vocabulary adds the words of a text to known, in all their forms, as far as the
// thesaurus has them.
func vocabulary(known map[string]bool, text string) {
	for _, word := range strings.FieldsFunc(rank.Fold(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		for _, form := range forms(word) {
			if groups[form] != nil {
				known[form] = true
			}
		}
	}
}

// forms returns a word and what its base form may be.
func forms(word string) []string {
	out := []string{word}
	for _, ending := range []struct{ suffix, base string }{
		{"ies", "y"}, {"es", ""}, {"s", ""}, {"ied", "y"}, {"ed", "e"}, {"ed", ""}, {"ing", "e"}, {"ing", ""}, {"ment", ""}, {"er", ""}, {"ly", ""},
	} {
		if stem, ok := strings.CutSuffix(word, ending.suffix); ok && len(stem) > 2 {
			out = append(out, stem+ending.base)
			if n := len(stem); ending.base == "" && n > 3 && stem[n-1] == stem[n-2] { // cancelled, shipping
				out = append(out, stem[:n-1])
			}
		}
	}
	return out
}

// expansion is a word of a query with its synonyms.
type expansion struct {
	word     *rank.Query
	synonyms []*rank.Query
}

// maxExpansions is how many words of a query have synonyms.
const maxExpansions = 32

// expand returns the words of a query that have synonyms among the known words.
// Quoted texts and identifiers have none.
func expand(a *rank.Analyzer, q *rank.Query, known map[string]bool) []expansion {
	text := q.Text()
	for _, name := range q.Names() {
		text = strings.ReplaceAll(text, name, " ")
	}
	var out []expansion
	seen := map[string]bool{}
	for _, word := range strings.FieldsFunc(rank.Fold(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if seen[word] || len(out) == maxExpansions {
			continue
		}
		seen[word] = true
		// A word that no page has would be taken for one that resembles it.
		list := slices.DeleteFunc(synonyms(word), func(s string) bool { return !known[s] })
		if len(list) == 0 {
			continue
		}
		e := expansion{word: a.Query(word)}
		for _, s := range list {
			e.synonyms = append(e.synonyms, a.Query(s))
		}
		out = append(out, e)
	}
	return out
}

// add gives the documents that have a synonym of a word, and not the word, a part of
// what the synonym is worth.
func (e expansion) add(indexes []*rank.Index, sums []*rank.Scores, fields [][]uint8) {
	own := rank.Score(e.word, indexes...)
	for n := range indexes {
		gain := map[uint32]float64{}
		mass := map[uint32]float64{}
		field := map[uint32]int{}
		for _, s := range e.synonyms {
			found := rank.Score(s, indexes...)[n]
			for _, doc := range found.Docs {
				if score := synonymWeight*found.Score[doc] - own[n].Score[doc]; score > gain[doc] {
					gain[doc], mass[doc], field[doc] = score, max(0, synonymWeight*found.Mass[doc]-own[n].Mass[doc]), found.Field(int(doc))
				}
			}
		}
		for doc, score := range gain {
			if sums[n].Score[doc] == 0 {
				sums[n].Docs = append(sums[n].Docs, doc)
				fields[n][doc] = uint8(field[doc]) //nolint:gosec // there are five fields
			}
			sums[n].Score[doc] += score
			sums[n].Mass[doc] += mass[doc]
		}
	}
}
