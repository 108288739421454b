package rank

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/kljensen/snowball/english"
)

// analyzerVersion changes when equal texts become other words than before.
const analyzerVersion = "2"

// An Analyzer makes words of texts and of questions. It is immutable.
type Analyzer struct {
	id string
	// short leads from a word to the words that it may stand for, and back.
	short map[string][]string
}

// NewAnalyzer returns an analyzer that knows the abbreviations beside the built-in
// ones: {"cust": "customer"}. A question with one of the two words also finds the
// other.
func NewAnalyzer(abbreviations map[string]string) *Analyzer {
	a := &Analyzer{short: map[string][]string{}}
	sum := sha256.New()
	add := func(brief, long string) {
		brief = FoldCode(brief)
		split(long, func(s span) {
			if s.whole || brief == "" || brief == s.word || stopWords[s.word] {
				return
			}
			sum.Write([]byte(brief + "\x00" + s.word + "\x00"))
			for _, pair := range [2][2]string{{brief, s.word}, {s.word, brief}} {
				if !slices.Contains(a.short[pair[0]], pair[1]) {
					a.short[pair[0]] = append(a.short[pair[0]], pair[1])
				}
			}
		})
	}
	for line := range strings.SplitSeq(strings.TrimSpace(abbreviated), "\n") {
		long, briefs, _ := strings.Cut(line, ":")
		for brief := range strings.FieldsSeq(briefs) {
			add(brief, long)
		}
	}
	for _, brief := range slices.Sorted(maps.Keys(abbreviations)) {
		add(brief, abbreviations[brief])
	}
	a.id = analyzerVersion + "-" + hex.EncodeToString(sum.Sum(nil)[:8])
	return a
}

// ID names the version and the options of the analyzer. An index that another analyzer
// made does not fit.
func (a *Analyzer) ID() string { return a.id }

// stem returns the form that the inflections of a word have in common. A word of
// another language than English loses a plural s.
func stem(word string) string {
	if len(word) < 3 {
		return word
	}
	if singular, ok := irregular[word]; ok {
		word = singular
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	return english.Stem(word, true)
}

// irregular are plurals that stemming does not find.
var irregular = map[string]string{
	"people": "person", "persons": "person", "men": "man", "women": "woman", "children": "child", "feet": "foot", "teeth": "tooth",
	"mice": "mouse", "geese": "goose", "indices": "index", "matrices": "matrix", "vertices": "vertex", "criteria": "criterion",
	"lives": "life", "wives": "wife", "knives": "knife", "leaves": "leaf", "shelves": "shelf", "halves": "half", "wolves": "wolf",
}

// abbreviated are words and what names of tables and columns make of them.
const abbreviated = `
account: acct acc
address: addr adr
administrator: admin
amount: amt
application: app
approximate: approx
attribute: attr
authentication: auth
average: avg
balance: bal
begin: beg
billing: bill
business: biz
calculated: calc
category: cat ctg
certificate: cert
city: cty
code: cd cde
column: col
comment: cmt
company: co comp
configuration: config cfg
contact: cont
count: cnt ct
country: ctry cntry
currency: cur curr ccy
customer: cust
database: db
date: dt dte
day: dy
delivery: dlv dlvy
department: dept dep
date of birth: dob
first name: fname
last name: lname
full name: fullname
middle name: mname
description: desc descr dsc
destination: dest
detail: dtl
develop: dev
directory: dir
discount: disc
distance: dist
district: dist
document: doc
duration: dur
education: edu educ
effective: eff
employee: emp empl
end: nd
environment: env
error: err
estimate: est
expiration: exp
facility: fac
figure: fig
flag: flg
frequency: freq
gender: sex
general: gen
geography: geo
government: gov govt
group: grp
header: hdr
history: hist
hour: hr
identifier: id ident
image: img
index: idx
indicator: ind
information: info
insurance: ins
invoice: inv
item: itm
kilogram: kg
kilometer: km
language: lang
latitude: lat
length: len
level: lvl
library: lib
line: ln
location: loc
longitude: lon lng long
management: mgmt
manager: mgr
manufacturer: mfr mfg manuf
maximum: max
measure: meas
medicine: med
member: mbr
message: msg
minimum: min
minute: mins
miscellaneous: misc
mobile: mob
month: mth mon mo
name: nm nme
number: no nbr num nr numb
object: obj
operation: op oper
opponent: opp
order: ord
organization: org organisation
original: orig
package: pkg
page: pg
parameter: param
password: pwd passwd
payment: pmt pymt
percentage: pct perc percent
period: prd per
person: pers
phone: ph tel telephone
picture: pic photo
point: pt pts
population: pop
position: pos
previous: prev
price: prc
product: prod prd
profession: prof
program: prog
project: proj
property: prop
purchase: purch
quantity: qty
quarter: qtr
query: qry
receipt: rcpt
record: rec
reference: ref
region: reg rgn
registration: reg
relationship: rel
representative: rep
request: req
reservation: resv rsv
response: resp
revenue: rev
sales: sls
schedule: sched
school: sch
second: sec
section: sec sect
sequence: seq
serial: ser
service: svc srv serv
shipment: shp shpmt
source: src
square: sq
standard: std
start: strt
state: st
statistic: stat stats
status: stat sts
street: st str
student: stu stud
subject: subj
supplier: supp sup
table: tbl
target: tgt
teacher: tchr
technology: tech
telephone: tel
temperature: temp tmp
temporary: temp tmp
time: tm
timestamp: ts
title: ttl
total: tot
transaction: txn trans trx tran
transfer: xfer
type: typ
university: univ uni
unit: unt
user: usr
utility: util
value: val
variable: var
vehicle: veh
vendor: vend vndr
version: ver vers
volume: vol
warehouse: wh whs
week: wk
weight: wt wgt
width: wd
window: win
year: yr
`
