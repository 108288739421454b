package wiki

// thesaurus has terms of trade, money, people and computing that writers use for one
// another, in their base form. The terms of a line are synonyms, or so near to each
// other that somebody who asks with one may mean a page that has the other. A phrase is
// written with "_". The table was written from general knowledge of business words, and
// from no question.
const thesaurus = `
customer client buyer consumer shopper purchaser patron
customer account
employee staff personnel worker colleague workforce headcount people
employee internal
revenue turnover sales income takings proceeds top_line
profit margin earnings gain bottom_line surplus
gross_margin gross_profit margin
profit ebit ebitda operating_income
loss deficit shortfall
purchase buy order acquire procure
product article item good merchandise ware sku
price cost charge fee rate
price tariff rate
cost expense expenditure spend spending outlay
cogs cost_of_goods cost_of_sales
overhead fixed_cost indirect_cost
refund reimbursement return repayment chargeback
refund money_back give_back pay_back
discount rebate reduction markdown price_cut concession
voucher coupon promo promotion gift_card
invoice bill billing
receipt invoice proof_of_purchase
pay payment settle settlement remittance transfer
salary wage pay remuneration compensation payroll
bonus commission incentive reward
commission fee cut take_rate
supplier vendor provider
procurement purchasing sourcing
purchase_order po
store shop branch outlet
point_of_sale pos till checkout cash_register
warehouse depot storage fulfilment_centre distribution_centre fulfillment
stock inventory supply
stockout out_of_stock sold_out unavailable missing
reorder replenish replenishment restock refill
delivery shipment shipping dispatch transport freight
deliver arrive receive arrival receipt handover
ship send dispatch
parcel package consignment shipment packet
carrier courier forwarder haulier
tracking trace
late delay delayed overdue tardy behind_schedule
on_time punctual timely punctuality
early premature ahead
cancel terminate end stop quit abort
cancel cancellation void revoke call_off
churn attrition leave loss defection turnover
churn cancel cancellation
retention loyalty come_back return
retain keep
subscription plan membership contract
subscriber member
subscribe sign_up enrol enroll register join
unsubscribe opt_out leave
opt_in consent agree permission
registration signup sign_up enrolment enrollment register
onboarding activation getting_started
recurring regular repeated periodic
mrr recurring_revenue
arr annual_recurring_revenue
renew renewal extend extension prolong
upgrade expansion upsell
downgrade contraction
active engaged live
inactive dormant idle lapsed
user visitor person account
visit session
login log_in sign_in authentication
logout log_out sign_out
bounce leave
page_view pageview impression view hit
conversion convert
funnel pipeline stage step
cart basket checkout
abandon abandoned leave give_up
ad advertisement advert banner advertising
advertising marketing
campaign promotion
click_through ctr click_rate
cpc cost_per_click
cac acquisition_cost
ltv clv lifetime_value customer_value
roi return_on_investment payback
roas return_on_ad_spend
aov basket order_value average_order
arpu revenue_per_user
gmv gross_merchandise_value marketplace_volume
nps net_promoter recommend
csat satisfaction
lead prospect
opportunity deal
quote quotation offer proposal bid
negotiate bargain
win won close
lose lost
quota target goal
territory region area district zone
channel medium source
attribution credit touchpoint
newsletter mailing email
spam junk unsolicited
company firm business organisation organization enterprise corporation
partner affiliate reseller distributor
competitor rival
small little minor
smb sme small_business
big large major
average mean
median middle
typical usual normal
share percentage proportion ratio rate fraction percent
total sum overall
amount quantity volume
count number
maximum most highest peak
minimum least lowest
start begin commence launch
end finish close conclude
open_date start_date
define definition meaning mean
calculate compute derive determine work_out formula
include contain comprise
exclude omit ignore skip filter leave_out
except exception
duplicate double copy twice
deduplicate merge duplicate
merge combine join consolidate
split divide separate
delete erase remove purge
forget erasure
archive history past
error mistake fault defect bug failure
fail failure crash
broken defective damaged faulty
correct right valid
wrong incorrect invalid
fix repair mend correct
validate verify check
verification check proof
quality grade
grade mark score
score rating points
review rating feedback
exam test
student pupil learner
course class lesson
curriculum syllabus programme
teacher instructor lecturer professor tutor
school education university college academic
government public state authority
tuition fee
graduate graduation degree
dropout drop_out
doctor physician clinician
nurse caregiver
hospital clinic ward
admission admit intake
discharge release
illness disease diagnosis sickness condition
symptom complaint
sick ill
patient inpatient
medicine drug medication prescription
lab laboratory
blood specimen sample
surgery operation procedure
flight plane aircraft
airline carrier
airport terminal
passenger traveller traveler rider
ticket fare
seat place
luggage baggage
departure leave depart
arrival arrive
trip journey ride travel
driver chauffeur
route line path
hotel lodging accommodation
occupancy utilisation utilization load
guest visitor
room chamber
night overnight
reservation booking book reserve
no_show absent absence
restaurant dining
table_booking reservation
meal dish food
menu card
tip gratuity
car vehicle automobile truck
fleet vehicle
mileage distance kilometre kilometer mile
lease rent rental hire
tenant renter lessee
landlord owner lessor
property real_estate estate building
apartment flat unit dwelling
mortgage home_loan
tax vat levy duty
vat value_added_tax sales_tax
net excluding_tax before_tax without_tax after_deduction
gross including_tax before_deduction
customs duty import
import inbound incoming
export outbound outgoing
country nation state
abroad foreign international roaming overseas
domestic national inland home
city town municipality
address location
coordinates latitude longitude geocode position gps
map geography
postcode zip postal
phone telephone mobile
mail email message letter
sms text_message
call conversation
picture image photo
video clip movie film
document file paper
attachment file
language locale translation
date day
time timestamp moment
timezone time_zone utc local_time
year annual yearly
fiscal_year financial_year accounting_year
month monthly
week weekly
quarter quarterly
hour hourly
daily every_day per_day
weekend saturday sunday
weekday working_day business_day
calendar schedule
holiday vacation leave
public_holiday bank_holiday
season seasonal seasonality
deadline due_date
duration length time_span
period interval
age old
birthday date_of_birth
gender sex
currency money
exchange convert conversion
exchange_rate fx conversion_rate
cash money liquid
cash_flow liquidity
bank account
balance saldo
deposit payment_in
withdraw withdrawal payout
transfer remit wire
transaction booking posting payment
debit charge
credit_card card
loan credit debt lending
interest coupon yield
instalment installment rate
arrears overdue unpaid late
default insolvency bankruptcy
write_off bad_debt impairment
collection dunning reminder
receivable outstanding open_invoice owed
payable liability
asset property
depreciation amortisation amortization write_down
ledger book journal accounting
account_code chart_of_accounts
close closing month_end period_end
accrual accrued provision
deferred unearned
reconcile reconciliation match
budget plan planned
variance deviation difference
audit inspection review
accountant controller finance
investor shareholder
share stock equity
dividend payout
portfolio holding
risk danger hazard
exposure risk
insurance policy cover coverage
premium contribution
claim damage loss
insured policyholder
underwriting underwriter
fraud scam deception
suspicious fraudulent
money_laundering aml
kyc identity_check know_your_customer
identity id
dispute chargeback contest
reject decline refuse deny
approve authorise authorize permit allow sign_off
authorisation approval authorization
pending open waiting
status state
permission access right privilege
role position function
password credential secret
encrypt encryption cipher
privacy confidential personal gdpr data_protection
personal pii sensitive private
anonymise anonymize mask pseudonymise hide
consent opt_in
secret confidential
retention_period keep delete
owner holder responsible accountable
contact responsible
department division unit team
organisation_chart hierarchy
manager boss supervisor superior lead
director executive head
contractor freelancer external temp
hire recruit recruitment
applicant candidate
vacancy open_position job_opening
job position role occupation
promotion advance
resign quit leave
dismiss fire layoff redundancy
retire retirement pension
absence sick_leave absent
overtime extra_hours
shift rota roster
working_time hours timesheet
part_time fte full_time_equivalent
training education course
appraisal performance_review
machine equipment device
sensor probe meter
reading measurement value
measure metric kpi indicator figure
measure unit
unit_of_measure uom
tolerance limit threshold
threshold limit cutoff
range bounds interval
alarm alert warning
downtime outage stop standstill
uptime availability
oee equipment_effectiveness
maintenance repair service servicing
spare_part component part
part component
bill_of_materials bom recipe
batch lot
serial_number serial
waste scrap reject
rework repair
yield output
production manufacture manufacturing
produce manufacture make
plant factory site works
capacity throughput
lead_time turnaround
cycle_time processing_time
inspection check test
energy power electricity
consumption usage use
meter counter
grid network
solar photovoltaic
emission co2 carbon greenhouse ghg
footprint emission
renewable green
recycle recycling reuse
fuel petrol gas diesel
water liquid
temperature heat
weight mass
length size
height tall
volume capacity
dimension size
site location plant facility
building premises
raw unprocessed
raw_material ingredient input
finished complete done
temporary scratch
expire lapse
expiry expiration shelf_life best_before
perishable fresh
discontinued phase_out end_of_life retired delisted
assortment range catalogue catalog portfolio
category group class segment kind type
segment tier cohort
brand make label
variant version model
colour color shade
barcode ean gtin upc
table relation dataset
column field attribute
row record entry
key identifier id
code abbreviation symbol
view report dashboard
chart graph plot
refresh update reload load
import load ingest
pipeline job workflow
etl pipeline load
batch bulk
real_time live streaming
freshness up_to_date latency lag current
delay latency lag
backfill reload recompute
schema structure layout
lineage origin source
source origin
master_data reference_data
warehouse dwh
snapshot copy
test_data dummy fake
fake dummy bogus
incident outage problem
sla service_level agreement
response_time latency
backup copy
restore recover recovery
deploy release rollout
release version
environment stage
production live
old legacy former
new recent
current present
first initial
last final latest
migrate migration move switch
forecast prediction projection estimate
estimate approximate guess
target goal objective
growth increase rise
year_over_year yoy compared_with_last_year
month_over_month mom
decrease decline drop fall
trend development
compare comparison benchmark
bot robot crawler automated
click tap press
open view
device phone
app application
browser client
download install
notification push alert
search find look_up
engagement interaction activity
like reaction
follow follower
share forward
comment reply
post publish
content article
author writer
audience reach viewer reader
viewer watcher
watch view stream
game play
song track music
artist musician band
album record
playlist list
royalty licence_fee
listen play stream
player gamer
match game fixture
team club side
league division
goal score
ticket_sales attendance
event happening
event occurrence
concert show performance
gift present voucher
loyalty faithful
loyalty_programme bonus_points rewards
point reward bonus
redeem cash_in use
referral recommend invite
satisfaction happiness
satisfied happy content
complaint grievance
ticket request case issue
ticket support_request
escalate escalation
resolve solve close
resolution solution
support help assistance service
agent operator representative
queue waiting_line wait
wait waiting_time
answer reply respond response
call_centre contact_centre hotline
fast quick rapid
slow delayed
question query
survey poll questionnaire
recommend promote
experiment trial test
ab_test split_test experiment
control baseline
significant significance
variant version group
trial demo test
trial free_period evaluation
free gratis complimentary
paid premium
contract agreement
notice_period cancellation_period
term duration
legal law
compliance regulation
licence license permit
court trial
lawyer attorney
citizen resident inhabitant
population inhabitants
household family home
vote election ballot
donation gift contribution
donor giver
volunteer helper
grant subsidy funding
farm agriculture
crop harvest
animal livestock
internet broadband
data_volume gigabyte traffic data_usage
roaming abroad
sim card
tower cell antenna
minute call
bandwidth speed
signal reception
coverage reach
construction building
project undertaking
task todo work
milestone stage
progress advance
priority urgency importance
severity seriousness
effort hours
resource capacity
workload load
rounding round
decimal fraction
negative minus
cents minor_units
null missing empty blank
unknown missing unspecified
outlier anomaly abnormal
anomaly unusual suspicious
random sample
sample subset
allocate allocation assign distribute
assign allocate
weighting weight
attribute property
flag marker indicator
mark label
tag label
note remark comment
reason cause
because reason
explain explanation
rule policy guideline
convention naming
standard norm
guide manual
responsible owner
phase stage step
stage step phase
level tier
rank ranking position
order_of sort
top best
worst bottom
high elevated above
low below
normal standard
how_long duration length time
how_often frequency times
how_much amount price quantity
how_many count number
how_old age
how_fast speed time
how_far distance
how_big size
how_exact accuracy precision
accurate exact precise accuracy precision
money amount payment funds
owe owed outstanding receivable debt
earn revenue income
worth value
cheap low_price inexpensive affordable
expensive costly
goods product merchandise item
send_back return
bring_back return
take_back return revoke
sign_off approve approval
set_up configure setup install
turn_on enable activate switch_on
turn_off disable deactivate switch_off
run_out stockout deplete empty
carry_over rollover
pick_up collect collection
drop_off deliver deposit
check_in arrival
check_out departure
get_rid delete dispose
throw_away discard dispose waste
break_down failure outage breakdown
shut_down stop close
come_from source origin
belong owner assign
pause suspend hold freeze
on_hold pause waiting
stay night visit
miss lost absent
person individual human people
child minor kid
busy occupied peak
vacant empty available free
available availability in_stock
previous prior last
next following upcoming
upcoming future planned
title name heading
name label title
describe description explain
contain hold store
store save keep
record log capture track
log journal protocol
change modify edit alter update amend
update modify
create add make new
add append insert
remove withdraw exclude
replace substitute swap
send transmit
receive obtain get
show display present
hide mask conceal
choose select pick
need require
required mandatory compulsory
optional voluntary
allow enable
forbid prohibit ban disallow
limit cap maximum ceiling
floor minimum
exceed above over
within inside
near close nearby
distance proximity
main primary principal
secondary backup
whole entire complete full
partial incomplete
common frequent usual
rare unusual infrequent
important critical key essential
urgent critical emergency
simple basic easy
complex complicated
public open external
private internal
manual by_hand
automatic automated
digital electronic online
offline in_store physical
online web internet
website web_site site web page
homepage landing_page start_page
link url address
keyword search_term
visitor traffic visit
speed velocity fast
accident crash collision
injury harm
police law_enforcement
crime offence offense
victim casualty
weather climate
rain precipitation
wind gust
measurement reading
tree plant
fish seafood
fruit vegetable produce
bread bakery
drink beverage
clothes clothing apparel garment
shoe footwear
furniture furnishing
tool equipment
toy game
book title publication
library archive
paper article publication
researcher scientist scholar
citation reference
patent invention
chemical substance
dose dosage
side_effect adverse_event
vaccine vaccination immunisation immunization
birth born
death deceased mortality
marriage married spouse
parent guardian
caller customer
conversation chat dialogue
talk speech
meeting appointment
appointment visit slot
slot time_window
window period
peak busiest rush
rush_hour peak
road street highway
traffic congestion
parking park
train rail railway
bus coach
station stop
ship vessel boat
port harbour harbor
container load
truck lorry
load cargo
weight heavy load
pallet skid
shelf rack bin
pick picking
pack packing packaging
label sticker
box carton package
kunde auftraggeber käufer
umsatz erlös einnahmen
rechnung faktura
lieferung sendung versand
steuer abgabe
mitarbeiter angestellter personal
lieferant anbieter
lager bestand
preis kosten
gewinn ertrag
vertrag abkommen
bestellung auftrag
rabatt nachlass
kündigung stornierung
`
