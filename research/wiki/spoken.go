package wiki

// spoken has what people say, in the words of every day and of many trades, for what a
// page has in other words. It continues the thesaurus, in the same form. It was written
// from general knowledge by an author who had seen no page and no question of package
// wikitest.
const spoken = `
how_much amount total sum quantity price value
how_many count number quantity total
how_long duration period lead_time time_limit deadline
how_often frequency interval schedule cadence
how_fast speed latency response_time throughput performance
how_old age recency vintage
how_late delay lateness overdue
how_big size volume dimension capacity
how_good quality rating score performance
where_from origin source provenance channel
where_to destination address location
who_pays payer billing responsibility cost_center
who_decides approval authority owner sign_off
who_owns owner ownership responsible steward
who_may permission authorization access right role
allowed permitted authorized eligible permission
permission access right role grant privilege
forbid prohibit exclude ban block policy
must required mandatory obligatory compulsory
rule policy guideline regulation convention definition
exception exclusion special_case edge_case exempt
rough approximate estimate
guess estimate forecast assumption prediction
exact precise accurate precision
true actual real correct valid
wrong incorrect error invalid mistake false
mistake error fault bug defect slip
fix repair correct resolve patch remedy correction
fix_later adjustment restatement correction backfill
broken defective faulty damaged outage failure
go_down outage downtime failure
stop_working fail break outage crash
crash failure outage incident
system_down outage downtime incident unavailable
work_again recovery restore resolved
call_for_help escalation emergency support on_call
night_duty on_call rota shift
wake_up alert page on_call
somebody_responsible owner on_call assignee
angry complaint dissatisfied escalation detractor
happy satisfied satisfaction promoter nps csat
unhappy dissatisfied complaint detractor
grumble complain complaint
feedback review survey rating comment opinion
opinion review rating survey feedback sentiment
star rating review score
recommend promoter nps referral
word_of_mouth referral recommendation organic
friend referral referrer
bring_friend referral invite
come_back return repeat_purchase retention returning reactivation
walk_away churn abandon leave
give_up abandon churn cancel
leave_behind abandon
leave_us churn attrition cancel resign
quit resign resignation termination attrition
fire dismiss termination layoff
let_go dismiss termination layoff
hire recruit recruitment employ onboarding
new_joiner new_hire onboarding starter
first_day onboarding start_date
joined start_date hire_date join_date signup
last_day end_date termination notice_period
boss manager supervisor lead
chief executive head director
team department group squad unit
reporting_line manager hierarchy org_chart
vacation leave holiday time_off pto
time_off leave absence vacation pto
day_off leave holiday vacation absence
sick illness sickness absence sick_leave
ill sick sickness absence
baby maternity paternity parental_leave
bank_holiday public_holiday holiday calendar
weekend saturday sunday non_working_day
working_day business_day weekday workday
overtime extra_hours time_in_lieu hours
work_hours schedule shift time_sheet timesheet working_time
home_office remote telework work_from_home
commute travel
trip travel journey business_trip
travel_cost travel_expense mileage per_diem
meal catering per_diem subsistence
hotel lodging accommodation stay
spend_back reimbursement expense_claim
get_money_back refund reimbursement chargeback
money_return refund chargeback
out_of_pocket expense reimbursement
petty_cash expense cash
company_card corporate_card credit_card expense
pay_cheque salary payroll wage
pay_day payroll payday salary
take_home net_pay salary net
stock_option equity share
pension retirement benefit
perk benefit
health_insurance benefit cover
train training learn course education
exam test assessment certification
skill competence qualification ability
job position role vacancy title occupation
opening vacancy position
applicant candidate application
interview candidate recruitment hiring
promotion advancement raise
review_talk appraisal performance_review
secret confidential credential password token sensitive
password credential login secret authentication
sign_in login authentication log_in session
log_out logout session_end
two_step mfa two_factor authentication
locked_out lockout password_reset access
key token credential
hack breach attack intrusion security_incident
leak breach exposure disclosure
stolen theft loss fraud
cheat fraud abuse
scam fraud phishing
fake fraud fraudulent false test dummy
suspicious fraud anomaly flag risk
bot robot crawler automated non_human
real_person human user
privacy gdpr personal_data data_protection
personal_data pii privacy gdpr
erase delete erasure deletion purge
wipe delete erase purge
throw_out discard delete dispose remove
throw_away discard dispose scrap delete
get_rid_of delete remove dispose
keep_for retention period
how_long_keep retention
old_data archive retention history historical
archive retention history storage
anonymous anonymised pseudonymous masked
hide mask redact conceal
black_out mask redact
consent opt_in permission agreement
opt_out unsubscribe consent
spam unsolicited bulk_email
newsletter email mailing campaign
mail email message
letter mail post correspondence
text_message sms message
push notification
ring call phone telephone
call_centre contact_centre support helpdesk hotline
help_desk support service_desk helpdesk
ticket case issue request incident
wait_time queue waiting response_time
waiting pending queue backlog
pile_up backlog queue accumulate
answer_time response_time sla first_response
first_answer first_response
promise commitment sla guarantee agreement
guarantee warranty sla
warranty guarantee claim
urgent priority severity critical p1
important priority key critical
serious severe severity critical
post_mortem review incident
learn_from post_mortem retrospective review
undo rollback revert reverse
put_back restore rollback revert
copy duplicate replica backup clone
safe_copy backup
save_copy backup snapshot
twice duplicate double
same_person duplicate identity match merge
one_person unique distinct individual
merge combine deduplicate consolidate
join_up merge combine link
split divide allocate allocation apportion
share_out allocate allocation distribute split
spread_over amortise amortisation depreciation deferred
wear depreciation
lose_value depreciation devaluation
asset equipment property
machine equipment device
broken_machine downtime breakdown maintenance
service_machine maintenance inspection
upkeep maintenance
check inspect inspection verification audit validate
double_check verify validation reconcile
match reconcile reconciliation
compare benchmark comparison reconcile
not_match discrepancy mismatch difference variance
gap discrepancy difference shortfall
difference variance delta discrepancy
plan budget target forecast
goal target objective kpi okr
aim target goal objective
on_track target progress
milestone deadline phase
due deadline due_date
deadline due_date cutoff
cut_off deadline cutoff
too_late overdue missed late
in_time on_time punctual
last_minute deadline late
ahead_of_time early advance
beforehand advance prepayment
pay_ahead prepaid prepayment advance deposit
down_payment deposit prepayment advance
instalment installment partial_payment
pay_later credit deferred invoice instalment
in_parts instalment partial
part partial component portion
half_done partial incomplete unfinished
unfinished incomplete open pending in_progress
finished complete done closed
open_order backlog pending unfulfilled
closed_deal won opportunity
deal opportunity contract sale
close_deal win opportunity
lost_deal lost opportunity
chance opportunity probability likelihood
likely probability chance
prospect lead opportunity
lead prospect enquiry
interest lead enquiry
enquiry request inquiry lead
funnel pipeline conversion stage
step stage phase funnel
stage phase status step
become_customer conversion convert
turn_into convert conversion
first_order new_customer acquisition
first_time new initial first
newcomer new new_customer
new_people acquisition signup new
sign_up register registration signup enrol
account_opening registration signup onboarding
try trial test pilot
try_out trial pilot demo
free_period trial
free_user trial freemium
paying paid subscriber customer
paid_user subscriber customer paying
plan tier subscription package
upgrade upsell expansion tier
more_from_customer expansion upsell cross_sell
move_up upgrade promotion
move_down downgrade contraction
smaller_plan downgrade contraction
renew renewal extend
run_out expire expiry end
expire expiry lapse expiration
lapse expire lapsed inactive dormant
sleeping dormant inactive
quiet inactive dormant
active user usage engagement
use usage utilisation consumption
busy utilisation load occupancy peak
full occupancy capacity utilisation
empty vacant blank null missing
no_value null missing unknown
not_known unknown null missing
zero nil none null
placeholder dummy default unknown
test_account test internal dummy
staff_account internal employee test
own_people internal staff employee
in_house internal
outside external third_party
third_party external vendor partner
partner affiliate reseller associate
go_between intermediary broker agent reseller
middleman intermediary reseller distributor broker
agent representative broker
rep representative sales
salesperson sales representative account_executive
account_manager owner sales
area region zone territory
abroad foreign international export
overseas international export foreign
foreign_money currency exchange_rate fx
exchange_rate currency conversion fx
currency exchange_rate money fx
convert_money currency exchange_rate fx
dollar currency usd
euro currency eur
pound currency gbp
cents minor_unit currency
penny cent minor_unit
coin cent currency
decimal_places rounding precision
round rounding precision
add_up total sum aggregate
sum_up total aggregate summary
add_together sum total aggregate
typical average median mean
middle median
usual normal standard typical
odd anomaly outlier unusual
strange anomaly outlier unusual
extreme outlier
spike peak surge anomaly
drop decline decrease fall
go_up increase rise growth
go_down decrease decline fall
growth increase expansion
year_on_year growth comparison
last_year previous prior comparison
part_of share portion percentage
percentage rate ratio share proportion
per_head per_capita per_person average arpu
per_customer arpu average
lifetime ltv clv
worth_over_time ltv clv lifetime_value
cost_to_get acquisition_cost cac
ad advertisement advertising campaign
advertise advertising campaign marketing
banner ad advertisement
advert ad advertisement campaign
commercial ad advertisement
credit_for attribution
which_channel attribution channel source
came_from source referrer channel attribution origin
last_click attribution
click visit traffic
visit session traffic
visitor user session traffic
page_view traffic visit hit
look_at view visit browse
browse view session visit
site website web page
site location plant facility
shop_window storefront catalogue
shopping_basket cart basket
basket cart order
left_basket abandoned_cart
fill_basket cart order
add_to_cart cart basket
check_out checkout payment order
card_declined payment_failure declined
bounce reject return bounce_rate
payment_fail declined failure dunning
remind reminder dunning
reminder dunning notice
chase dunning collection overdue
collect collection receivable dunning
not_pay default unpaid bad_debt
bad_payer default bad_debt delinquent
lost_money bad_debt loss write_off
owe_us receivable debtor
we_owe payable creditor
money_owed receivable debt outstanding
bank_account account iban
cash money liquidity
cash_in_hand liquidity cash
books ledger accounting
bookkeeping accounting ledger journal
book post record journal
book_entry journal posting ledger
close_books month_end close period_close
month_end close period
year_end close fiscal_year
business_year fiscal_year financial_year
fiscal_year year period
quarter period fiscal_quarter
three_months quarter
week_start week calendar
monday week
midnight day_boundary cutoff timezone
clock time timezone
local_time timezone
summer_time daylight_saving timezone
time_difference timezone offset
night overnight nightly batch
every_night nightly batch daily
every_day daily
every_week weekly
every_month monthly
every_year annual yearly
fresh latest current recent update
up_to_date current fresh latest refresh
out_of_date stale outdated old
refresh update reload sync
data_late delay freshness stale
feed import ingest source interface
bring_data ingest import load
export extract download
upload import
spreadsheet excel csv file
chart dashboard report graph
picture image photo
dashboard report chart kpi
number_wrong discrepancy error data_quality
trust reliable quality certified
reliable certified trusted quality
clean quality cleanse valid
dirty invalid quality
data_quality validation check
single_truth master golden_record source_of_truth
official certified authoritative approved
approve approval sign_off authorise
green_light approval sign_off
sign signature contract
paper document paperwork
paperwork document form
small_print terms condition contract
terms condition contract agreement
law legal regulation compliance
lawyer legal counsel
rule_break violation breach non_compliance
fine penalty
tax vat duty levy
sales_tax vat tax
before_tax gross pre_tax net
net after_deduction
gross before_deduction total
take_off deduct subtract discount
deduct subtract reduce deduction
minus subtract negative less
negative reversal credit_note minus
credit_note reversal refund correction
cancel_invoice credit_note reversal
customs duty import tariff border
border customs cross_border
import customs foreign
truck vehicle lorry transport freight
van vehicle delivery
driver courier
car vehicle
fleet vehicle
fuel petrol gas diesel
mile distance mileage
distance mileage kilometre
route path journey
road route transport
plane flight aircraft air
boat ship vessel sea
train rail
seat capacity booking
book_seat booking reservation
reserve booking reservation
no_show absence missed_appointment
appointment booking visit schedule
guest visitor customer hotel
room accommodation
postman courier carrier delivery
doorstep delivery last_mile
parcel_lost lost missing claim
lost_in_post lost missing
not_arrive missing lost undelivered
arrive delivery receipt arrival
send_back return
sent_back return refund
bring_back return
return_goods return rma refund
change_mind return withdrawal cancel
swap exchange replacement
replace exchange replacement substitute
substitute replacement alternative
box package carton
packaging box carton
pack package packing
pick picking
shelf bin location storage
store_room warehouse stockroom
storehouse warehouse depot
count_stock stocktake inventory cycle_count
stocktake inventory count
missing_stock shrinkage loss
go_missing shrinkage loss theft
spoil waste expiry perishable
perish waste expiry
waste scrap loss
scrap waste reject
reject scrap defect
return_rate refund returns
make manufacture production produce
factory plant production
plant factory site
assembly production manufacture
recipe bill_of_material formula
ingredient component material
raw_material material input component
spare_part component part
batch lot
expiry_date shelf_life best_before
best_before expiry shelf_life
run_short stockout shortage
shortage stockout deficit
cushion safety_stock reserve buffer
order_more reorder replenish
too_much excess surplus overstock
too_little shortage shortfall deficit
left_over remainder surplus remaining
rest remainder balance remaining
season seasonal seasonality
christmas season peak holiday
busy_time peak season
rush peak
sale promotion discount clearance
cheaper discount reduced
lower_price discount markdown reduced
special_offer promotion discount
deal_price discount promotion
money_off discount voucher coupon
code coupon voucher
coupon voucher promotion
loyal loyalty retention
point loyalty reward
bonus_point loyalty reward
gift voucher present gift_card
free_item gift sample
sample trial gift
bundle package set kit
size variant dimension
colour variant attribute
kind type category class
sort type category
group segment category cohort class
bucket band range group
range band interval bucket
label tag category flag
mark flag tag label
flag indicator marker
code identifier key
number_plate registration
id identifier key
unique_number identifier key
nickname alias abbreviation
short_for abbreviation acronym
mean definition meaning stand_for
word term glossary
jargon glossary term
big_customer enterprise key_account large
key_account enterprise strategic
small_business smb sme
private_person consumer individual b2c retail
business_customer b2b corporate company
company business organisation firm
parent_company group parent headquarters
daughter_company subsidiary
subsidiary entity company
branch subsidiary office
headquarters head_office
legal_entity company entity
public_body government authority
authority regulator government
regulator authority compliance
bank lender finance
borrow loan
lend loan credit
mortgage loan home
house property real_estate
flat property apartment
rent lease tenancy
tenant lessee renter
landlord lessor owner
roof building property
electricity power energy
meter reading consumption
heating energy heat
weather temperature climate
temperature sensor measurement
sensor device measurement reading
measure metric measurement kpi
metric measure kpi indicator
figure number metric kpi
number figure count metric
doctor physician clinician
hospital clinic
patient sick_person case
drug medicine medication
operation surgery procedure
illness disease diagnosis condition
insurance policy cover premium
accident incident claim loss
claim damage loss
damage loss defect
premium price fee
risk exposure hazard
danger risk hazard safety
safe security safety
injury accident safety
school education student
pupil student learner
teacher instructor trainer
class course lesson
mark_exam grade score
grade score rating level
level tier grade
club membership
donate donation gift
charity donation nonprofit
vote poll election ballot
member subscriber user
age birth_date
birthday birth_date
man male gender
woman female gender
married marital_status
household family home
home_address address residence
live residence address
postcode postal_code zip
town city
country nation market
market country region
language locale
translate translation language
computer device machine hardware
phone mobile device
app application software mobile
software application program
release deployment version launch
launch release rollout start
roll_out release deployment launch
go_live launch release deployment
switch_on enable activate
switch_off disable deactivate
feature_switch feature_flag toggle
experiment test ab_test
variant experiment version group
control_group experiment holdout
chance_result significance
proof evidence significance
slow latency performance delay
fast performance speed
memory ram capacity
disk storage space
space storage capacity
server host machine
cloud hosting
database warehouse store
table dataset relation
dataset table data
column field attribute
row record entry
who_changed audit_trail history log
trace audit log history
history audit log past
track_changes history versioning
over_time history trend
trend development history
snapshot copy state
as_of snapshot point_in_time
at_that_time as_of snapshot historical
look_back historical retrospective lookback
window period lookback
between period range
from_until period range validity
valid_from validity effective
start_date effective begin
effective valid start
begin start commence
finish end complete
end finish stop close
stop end cancel halt
pause suspend hold
freeze suspend hold block
on_hold hold pending suspended
block suspend ban
blacklist block deny
whitelist allow
queue_number ticket order
number_order order order_number
sequence order number
first initial earliest
last final latest
latest newest current last
oldest earliest first
top best highest
worst lowest bottom
rank ranking order position
list catalogue register
register list record
catalogue product_list list
menu list catalogue
choose select pick option
option choice selection
default standard preset fallback
fallback default alternative
manual by_hand
automated automatic scheduled
schedule timetable plan calendar
calendar date schedule
link connect relate join
belong assigned member owner
assigned owner responsible
assign allocate attribute
count_as classify treat define
count include treat
leave_out exclude omit
take_out exclude remove deduct
not_count exclude ignore
skip ignore exclude omit
include count contain
contain include hold
sort_out resolve settle clear
sort order rank arrange
deal_with handle process treat
look_after maintain manage responsible
take_care handle manage responsible
in_charge responsible owner manager
keep_eye monitor watch supervise
watch monitor observe track
monitor observe alert track
tell notify inform report
let_know notify inform announce
announce notify publish notice
heads_up notice warning announcement
warn alert warning notify
warning alert notice
find_out determine detect discover
detect discover identify find
look_up search find lookup query
work_out calculate compute determine
calculate compute formula derive
come_up_with calculate derive estimate
figure_out determine calculate
formula calculation definition
made_up_of consist composed component
come_from source origin derive
go_into flow input component
pipeline flow job process
job task run batch
run execute job process
kick_off start launch trigger
set_off trigger start
trigger cause start
cause reason root_cause
reason cause why explanation
because reason cause
explain reason describe document
blame responsible cause attribution
consequence impact effect result
result outcome effect
outcome result conclusion
event occurrence activity action
action activity event step
activity usage event engagement
turn_up arrive attend appear
show_up arrive attend appear
attend participate attendance presence
missing absent lost unavailable
get_hold obtain contact reach
contact reach communication
get_in_touch contact support
touch contact interaction
talk contact conversation call
conversation chat call interaction
chat message conversation
speak talk call
meeting appointment visit call
hand_over transfer handover pass
pass_on transfer forward share
forward pass transfer
share publish distribute
hand_out distribute grant issue
issue grant release
obtain receive acquire
earn receive income
create produce build new
build construct create develop
change modify update edit alter
modify change adjust update
adjust correct change adjustment
adjustment correction change
move transfer relocate shift migrate
shift move change
swap_over exchange switch
switch change move migrate
set_up configure create install
set configure define
configure set setting
setting configuration parameter option
tune adjust configure
install set_up deploy
put_in insert enter add
type_in enter manual entry
enter input entry record
fill_in complete enter form
form document application
add insert append include
put_on add
take_away remove subtract deduct
remove delete exclude
drop remove delete discontinue
discontinue stop end retire
retire discontinue deprecate pension
no_longer discontinued retired former ended
old former previous legacy
former previous ex past
previous former prior past
next following future upcoming
coming upcoming future next
future forecast planned upcoming
planned scheduled expected
expected planned forecast target
promised committed expected
supposed expected planned
on_paper nominal planned
nominal face_value
allow permit accept
accept approve allow
agree accept consent approve
refuse reject decline deny
turn_down reject decline refuse
say_no reject refuse decline
say_yes accept approve agree
disagree dispute object
dispute contest chargeback disagreement
argue dispute
complain complaint dispute
claim demand request
ask_for request apply
apply request application
request demand order
preference choice setting
favourite preferred popular
popular bestseller top demand
best_selling top popular
slow_moving obsolete dead_stock
sit_around idle stock unused
idle unused inactive
unused idle spare
spare unused extra reserve
reserve spare backup
backup reserve copy
emergency urgent crisis
plan_b contingency fallback
just_in_case contingency reserve
in_case contingency condition
condition requirement criterion state
criterion condition threshold
threshold limit minimum
limit maximum cap ceiling threshold
at_most maximum limit
at_least minimum
floor minimum
minimum lowest least
maximum highest most
too_high exceed above limit
go_over exceed limit
exceed above over
over_budget overspend exceed variance
under below less
fall_short shortfall miss deficit
miss fail shortfall
reach_goal achieve attain target
achieve attain reach
attainment achievement quota
quota target attainment
score points rating
win success won
success win achievement
fail failure unsuccessful
failure fail error
fall_through fail cancel lost
lose lost loss
found discovered
number_one top first leading
lead head manager prospect
compete competitor competition
competitor rival competition
market_share share competition
niche segment market
customer_group segment audience
audience segment target_group
everybody all whole company
everyone all company_wide
each_person per_capita individual
individual person single
single individual one
one_by_one individual single
in_bulk batch mass wholesale
bulk batch mass wholesale
wholesale bulk trade reseller
retail consumer shop
shopkeeper retailer merchant
merchant seller retailer
seller merchant vendor
platform system marketplace
tool application software system
screen display page interface
button click
page screen site
first_page homepage landing_page
homepage landing_page front_page
landing_page entry_page
land arrive landing_page
leave_site exit bounce
exit leave bounce
stay retain remain retention
stick stay retention engagement
sticky engagement retention
engage engagement interact activity
interact engagement interaction
open_mail open_rate email
read_mail open_rate email
deliver_mail deliverability email bounce
inbox email mailbox
social social_media network
post publish social_media
influencer sponsor creator
sponsor partner funding
tv television broadcast media
radio broadcast media
press media news
news announcement press
event_visitor attendee
fair trade_show event
trade_show event conference
ticket_price fare admission
fare ticket price
entry admission access
admission entry intake
intake admission input
patient_stay admission length_of_stay
discharge release end
bed capacity ward
ward unit department
emergency_room urgent casualty
nurse staff care
care treatment service
treatment therapy care
shot vaccination injection
lab laboratory test
blood sample lab
sample specimen subset
subset sample part
sampling sample survey
survey questionnaire poll
questionnaire survey form
answer response reply
question query inquiry
query question search
hit match result
match hit equal
same equal identical
similar alike like comparable
different distinct other
distinct unique different
unique distinct single
mixed combined various
various different several
several multiple many
few small_number rare
rare unusual seldom
often frequent regular
regular frequent recurring
recurring regular repeat subscription
repeat recurring return again
again repeat re
one_off single non_recurring
one_time single non_recurring
once single one_time
at_once immediate instant
immediate instant real_time
right_away immediate instant
live real_time current
real_time live instant streaming
straight_away immediate
short_notice last_minute urgent
permanent long_term fixed
temporary interim fixed_term
contractor freelancer external temporary
temp temporary agency
agency broker agent
apprentice trainee intern
part_time reduced_hours fte
fte full_time headcount
head_count headcount fte employee
seats licence user
licence permit seat
permit licence permission
certificate certification proof
diploma certificate degree
degree certificate qualification
proof evidence document
evidence proof audit
auditor audit inspection
tax_office tax_authority
tax_return declaration filing
declare report filing
filing submission report
submit send file hand_in
hand_in submit deliver
deadline_tax filing
customs_paper declaration
origin country_of_origin source
made_in country_of_origin
weight mass kilogram
heavy weight
light weight
long length duration
length duration size
wide width
tall height
high height top
hot temperature heat
cold temperature cooling
cooling refrigeration cold
fridge refrigeration cold_chain
frozen cold_chain freeze
fresh_food perishable
food grocery product
drink beverage
clothes apparel garment clothing
shoe footwear
furniture home
toy product
book title publication
music media
film movie video
video media stream
stream playback video
listen playback audio
play playback game
player gamer user
gamble bet wager
bet wager stake
stake bet share
share_price stock equity
stock_market exchange equity
shareholder investor owner
invest investment capital
investment capital capex
capex capital_expenditure investment
opex operating_expense running_cost
direct_cost cogs variable_cost
interest interest_rate
instalment_plan repayment schedule
repay repayment amortisation
early_repayment prepayment
credit_check credit_score scoring
credit_score rating creditworthiness
creditworthy credit_score rating
collateral security guarantee
security_deposit deposit collateral
money_laundering aml compliance
know_your_customer kyc identity verification
identity identification id
prove_identity verification kyc identification
passport identification id
signature sign approval
double_entry ledger journal
debit_side debit
credit_side credit
opening_balance balance carry_forward
carry_over carry_forward rollover
roll_over carry_forward rollover
left_days balance remaining
used_up consumed exhausted
consume use consumption
use_up consume exhaust
utility energy water electricity
solar renewable energy
green renewable sustainable
carbon emission co2 climate
pollution emission
rubbish waste
recycle waste reuse
crop harvest yield
farm agriculture
animal livestock
field_worker technician
technician engineer field_service
engineer technician developer
developer engineer programmer
code_change commit release change
pull_request review code
crash_report error incident
error_rate failure error
attempt try retry
try_again retry
time_out timeout
hang timeout stuck
stuck blocked pending hang
bottleneck constraint capacity
capacity limit size
overload capacity peak
throttle limit rate_limit
rate_limit throttle quota
traffic_jam congestion
congestion delay
detour route
track_parcel tracking
where_is tracking location status
whereabouts location tracking
location place site position
spot location place
coordinate location latitude longitude
map location geography
nearby distance location
neighbour adjacent
floor_space area square
square_metre area size
area size surface
opening_hours business_hours
open_at business_hours
closed_on holiday closure
closure closing shutdown
shut closed closure
shut_down closure discontinue
bankrupt insolvency default
go_bust insolvency bankrupt
takeover acquisition merger
buy_company acquisition merger
merger acquisition combine
sell_off divest disposal
disposal sale retire scrap
second_life refurbished used
refurbished used renewed
repair_shop service maintenance
warranty_claim claim rma
recall withdrawal defect
quality_check inspection quality_control
taste preference
dress_code policy
behaviour conduct usage
conduct code behaviour
harass misconduct conduct
whistle report compliance
complaint_box whistleblower
gift_rule gift compliance bribery
bribe bribery corruption
conflict dispute
broken_down failure outage
without_tax net
with_tax gross
forget_me erasure deletion gdpr
ab_test experiment variant
spread_cost allocate amortise distribute
`
