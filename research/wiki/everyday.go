package wiki

// everyday has words and phrases of common speech, and terms of trade, work and
// computing that writers use for what the words tell of. It continues the thesaurus: the
// form is the same, and each line is a meaning that its terms have in common. A word has
// a line for each meaning. The table has no words that belong to questions as such (want,
// need, ask, see, show) and none that only relate others (after, before, each, may). It
// was written from general knowledge. Its author had seen the questions of package
// wikitest on which settings are chosen, and of the others only those of the first pages.
const everyday = `
come_in receive income incoming inbound
go_out outgoing outbound expense
bring_in earn revenue generate
make_money earn profit revenue margin
lose_money loss deficit unprofitable
money income
money cost
money budget
money price
spend pay purchase
spending budget
owe debt liability payable
owe unpaid overdue
lend loan credit
borrow loan credit debt
borrower debtor
lender creditor
creditor supplier
debtor customer
interest_rate apr yield
save saving economise reduce
savings deposit
bill invoice charge
bill statement
charge debit price
earnings salary wage
pay_back refund repay reimburse
pay_rise raise promotion
paid_for purchase
unpaid outstanding open overdue
unpaid gratis voluntary
pay_late overdue arrears dunning
late_fee penalty surcharge
penalty fine fee
surcharge extra supplement
extra additional bonus surcharge
extra_money bonus
pocket keep
wallet balance
purse budget
afford budget
worth valuation price amount
value worth price amount
valuation appraisal assessment
expensive high_price
cheap discount low
for_nothing free gratis
bargain discount deal
sell_again resale
second_hand used resale
trade exchange commerce
trade sale
commerce ecommerce sale
dealer reseller retailer
retailer shop store merchant
merchant seller vendor shop
seller vendor merchant supplier
seller sales agent
buying purchase procurement
shopping purchase order
shopping_basket cart
trolley cart
till payment
market marketplace
market region country segment
stall shop
online_shop ecommerce store web
mail_order ecommerce
thing product article item object
stuff product item goods
unit piece item
sort type category
sort order
things_we_sell product assortment
what_we_sell product assortment
run_low stock reorder
gone out_of_stock missing lost
gone leave churn
vanish disappear missing lost
disappear missing churn
lost missing shrinkage
theft steal shrinkage loss fraud
shrinkage loss
left remaining rest balance
left_over remaining rest surplus
rest remaining balance
remaining balance open
too_much excess surplus over
too_many excess surplus
too_little shortage deficit
not_enough shortage insufficient
lack shortage missing
shortage stockout deficit
enough sufficient
overstock surplus excess
dead_stock obsolete
obsolete old outdated discontinued
outdated old stale
throw_out dispose scrap write_off
rubbish waste scrap
garbage waste scrap
trash waste delete
rot spoil expire perishable
spoil perishable expiry waste
fresh new recent
go_bad expire expiry perishable
best_by expiry
cool cold refrigerate temperature
cold_chain temperature refrigerated
cold chilled temperature
hot temperature heat
warm temperature heat
freeze frozen temperature
fridge refrigerated temperature
weather temperature rain
broken fault failure outage
go_wrong error fail failure incident
wrong error mistake
wrong_item mispick error
wrong_address undeliverable
undeliverable return
lie_about fraud
cheat fraud scam
steal theft fraud
dishonest fraud
trick fraud
fake fraud test
made_up fake synthetic test
invented fake synthetic test
pretend fake test
artificial synthetic
genuine real authentic
real actual genuine
true correct actual
truth correct source
source_of_truth master canonical
golden_record master
trust reliable credit quality
trustworthy reliable credit
reliable reliability dependable
reliability uptime availability
depend dependency rely
look_after maintain care
care maintenance nursing
keep_up maintain
upkeep maintenance
overhaul maintenance
wear_out depreciation wear
stand_still downtime stop idle
not_working outage down failure broken
not_work outage fail
out_of_order failure downtime
out_of_service downtime
come_back return retention repeat
come_again repeat return
repeat recurring return
repeat_purchase repeat retention
one_off single once
single_use one_off
first_time new initial
newcomer new hire join
new_people hire recruitment
join hire registration
take_on hire recruit
let_go dismiss layoff termination
fire dismiss termination
quit resign churn leave
quit attrition
walk_away leave churn abandon
stop_buying churn inactive
stop_paying churn default
stop_using churn inactive
give_up cancel abandon
go_away leave churn
go_elsewhere churn
leaver attrition churn
leaver resign
joiner hire
stay retention
stay accommodation night
remain retention stay
loyal retention loyalty
faithful loyal
regular_customer loyal repeat
regulars repeat
fan follower
member subscriber customer
membership_fee subscription
monthly_fee subscription
standing_order recurring
pay_monthly subscription
every_month monthly recurring
every_week weekly
every_year annual
each_month monthly
each_year annual
each_day daily
per_head per_capita
per_person per_capita
per_customer per_user average
per_user arpu
per_order average
on_average average mean
in_the_middle median
middle median central
halfway median
typically median average
spread variance deviation distribution
spread distribute
scatter variance
far_off outlier deviation
strange anomaly outlier unusual suspicious
odd anomaly outlier unusual
weird anomaly outlier unusual
extreme outlier
sudden spike anomaly
jump spike increase
spike peak surge
surge peak increase
go_up increase rise growth
go_down decrease decline
get_bigger growth
get_smaller decline shrink
get_better improve
get_worse deteriorate decline
better improve
improve increase optimise
worse decline
shrink decline decrease
grow growth scale
faster speed
slower latency
slow latency lag
quickly fast speed
how_quickly time duration speed
how_soon time lead_time delay
how_late delay freshness lag
how_fresh freshness lag
how_recent freshness
how_full utilisation occupancy fill_level
how_busy utilisation load traffic
how_happy satisfaction
how_good quality score rating performance
how_well quality performance
how_bad severity
how_serious severity
how_safe safety
how_risky risk
how_likely probability
how_sure confidence
how_near distance
how_heavy weight
how_tall height
how_hot temperature
how_deep depth
how_wide width
how_wet moisture humidity
how_loud noise
how_clean hygiene
how_healthy health
how_popular popularity
how_close distance proximity
how_precise accuracy
how_high amount height
how_low minimum
how_large size
how_small size minimum
how_strong strength
how_expensive price cost
how_cheap price
how_worth value
how_early advance
what_time time hour
what_day date
what_happens consequence process
what_if exception scenario
what_counts definition include
counts_as definition
count_as definition include
regarded_as definition
considered definition
stand_for meaning abbreviation definition
so_called definition
difference between versus
compare_with versus benchmark
versus compare
who_decides approval owner
who_may permission access authorised
who_can permission access authorised
who_sees permission access visibility
who_pays payer cost
who_owns owner
who_looks_after owner responsible
whom_to_ask owner contact
in_charge responsible owner manager
in_charge_of responsible owner
allowed permission policy
must_not forbidden prohibited
have_to required mandatory
do_not exclude forbid
not_count exclude exclusion
not_include exclude
leave_aside exclude
take_out exclude remove withdraw
take_off deduct remove
take_away deduct remove
throw_out exclude
get_rid_of delete remove
wipe delete erase
clear delete
clean cleanse cleaning
clean_up cleanse purge
tidy cleanse
dirty quality cleanse
bad quality faulty
mess quality
junk scrap waste
put_in insert enter
put_back restore return
put_off postpone defer
put_together combine merge join
put_up increase
postpone defer delay reschedule
reschedule change postpone
move transfer migrate relocate
relocate move
house_move relocation
switch change migrate
swap replace exchange
change_over migration
change_history audit versioning
over_time history trend
in_the_past history historical
history historical past
past historical
back_then historical
earlier previous before prior
cut_off cutoff deadline
last_day deadline end
run_from_to period validity
valid_from validity effective
valid validity effective
come_into_force effective
expire end validity
go_live launch release
launch release start
debut launch release
closed inactive ended
shut closed
shut close
open active
opening_hours hours
hours time
office_hours business_hours
after_hours overtime
night_work night shift
night_shift shift
free_day holiday leave
day_off leave holiday absence
days_off leave holiday absence
time_off leave holiday absence
off_work absence leave
off_sick sick_leave absence
call_in_sick sick_leave absence
sick_day sick_leave absence
sick_note absence
ill absence
away absence
not_there absence
not_show no_show
not_turn_up no_show
fail_to_appear no_show
turn_up attend attendance
attend attendance participation
presence attendance
take_part participate attendance
participant attendee
attendee participant visitor
maternity parental leave
baby parental birth
parental_leave maternity
retiree pension
work_from_home remote
home_office remote
remote home
desk workplace
workplace site office
office site location
head_office headquarters
hq headquarters
headquarters main
chief head manager
chief executive director
top_management executive board
board directors executive
board panel
team_leader manager lead
subordinate report
report_to manager
reporting_line hierarchy manager
hierarchy tree level
tree hierarchy
parent_child hierarchy
structure hierarchy
coworker employee
workers employee staff
crew staff team
team staff
folks people staff
heads headcount
number_of_people headcount
number_of_staff headcount
manpower headcount staff
labour staff workforce
labor staff workforce
wage_bill payroll
pay_slip payroll
payday payroll
bank_account account
account_number iban
sort_code bank
temp temporary agency
outsider external
intern trainee
trainee apprentice
learn training
teach training
skill competence qualification
qualification certificate skill
certificate certification
certified certification
expert specialist
interview recruitment candidate
hiring recruitment
job_advert vacancy
applicant candidate recruitment
application_form application
request application
men_and_women gender diversity
gender diversity
diversity inclusion
equal fair diversity
pay_gap gender
fair equal
age_group cohort age
young age
married marital
single marital
live reside address
live_in residence address
where_live address residence
where_from origin source
where_found source location
where_stored source location table
where_kept storage location table
where_stand status
where_is location tracking
reach contact
reach arrive
get_to arrive
get_there arrive delivery
get_here arrive delivery
arrive_late delay
too_late delay overdue
too_early early premature
behind late delay
behind overdue
on_schedule on_time punctual
in_time on_time punctual
in_good_time on_time
promise commitment sla
promise guarantee
promised_date due_date
commitment contract obligation
obligation liability commitment
guarantee warranty
warranty guarantee claim
liable liability
hand_over transfer handover
handover transfer
hand_in submit
submit send
bring deliver
bring_to deliver delivery
drop deliver
door delivery
to_the_door delivery
last_mile delivery
courier delivery
postman delivery
van vehicle delivery
truck freight
lorry freight
fetch collect pick_up
click_and_collect pick_up
self_service self
pick warehouse
box package parcel
wrap packaging
wrapping packaging
packaging material
goods_in receipt inbound
goods_out dispatch outbound
goods_receipt inbound
unload inbound receipt
border customs
cross_border international export
abroad export
foreign_currency exchange_rate
foreign_money exchange_rate currency
dollar currency
euro currency
pound currency
yen currency
convert exchange_rate
penny cents
pennies cents
cent minor_unit
decimals rounding precision
digits decimal rounding precision
comma decimal
sign negative
below_zero negative
less_than minimum below
more_than maximum above exceed
at_most maximum limit
at_least minimum
upper_limit maximum threshold
lower_limit minimum threshold
allowed_range tolerance limit
too_high exceed threshold alert
too_low below threshold alert
go_over exceed overrun
overrun exceed delay
over_budget overrun variance
under_budget variance
plan_versus_actual variance budget
planned budget target forecast
expected forecast plan target
expect forecast
guess forecast estimate
predict forecast
look_ahead forecast
outlook forecast
next_year forecast budget
future forecast
aim target goal
aim objective
wish demand request
demand order requirement
interest demand lead
interested lead prospect
interested_party lead prospect
potential lead prospect
potential_customer lead prospect
maybe probability
likely probability
chance probability opportunity
odds probability
likelihood probability
propensity probability
close_a_deal win
sign contract close
signed contract closed
signature contract
salesman sales
salesperson sales
salespeople sales
rep sales
sell_more upsell
add_on upsell cross_sell
cross_sell upsell
bundle package set
set bundle group
set_of_products bundle
basket_size aov
order_size aov
spend_per_order aov
shopping_cart cart
leave_cart abandon
checkout payment
pay_by payment_method
way_to_pay payment_method
ways_to_pay payment_method
means_of_payment payment_method
payment_method card
plastic card
card payment
bank_transfer payment
direct_debit payment mandate
bounced_payment chargeback failed
money_returned refund
money_back refund guarantee
get_money_back refund
bring_goods_back return
give_back return refund
send_back refund
unwanted return
not_like return dissatisfied
change_mind return withdrawal cancel
cooling_off withdrawal return
complain complaint
complaint ticket
unhappy complaint dissatisfied detractor
angry complaint
dissatisfied complaint detractor
upset complaint
pleased satisfied
happy satisfaction promoter
love promoter
thumbs_up rating
stars rating
star rating
opinion review feedback survey
say_about feedback review
think_of feedback survey
feel satisfaction sentiment
mood sentiment
tone sentiment
ask_for request
ask_customers survey
get_back_to response
first_answer first_response
first_reply first_response
wait backlog
hold_on queue
on_the_phone call
phone_call call
hang_up abandon
ring call
pick_up_phone answer
talk_to contact
speak_to contact
get_in_touch contact
helpline support call_centre
help_desk support
helpdesk support service_desk
customer_care support customer_service
customer_service support
ask_for_help ticket support
problem issue incident ticket
trouble incident issue
solve resolve fix
fix_a_problem resolve
unsolved open backlog
backlog open queue
pile backlog
to_do backlog task
work_on process
deal_with handle process
handle process treat
handle_time duration
take_long duration
takes_long duration latency
take_time duration
length_of_stay duration
stay_long duration
stay_at accommodation
sleep night accommodation
sleep inactive
bed capacity occupancy
bed ward
beds capacity occupancy
room_rate adr price
rooms_sold occupancy
full occupancy capacity utilisation
fully_booked occupancy sold_out
overbook overbooking
overbooking oversold
empty_room vacancy occupancy
vacancy empty
vacant vacancy
unoccupied vacancy
free_space capacity availability
space capacity area
room space
area surface region
square_metre area
floor_space area
floor storey
fill utilisation occupancy
fill_level level
fill_rate availability
usage utilisation consumption
unused idle dormant
not_used idle unused deprecated
no_longer_used deprecated obsolete
deprecated obsolete legacy
abandoned legacy
old_system legacy
old_data archive historical
keep_data retention
keep_for retention
how_long_keep retention
store_for retention
data_deletion erasure retention
personal_data pii privacy
names personal pii
private_data pii personal
names_and_addresses pii personal
hide_names anonymise mask
black_out mask redact
redact mask
blur mask
unreadable encrypt mask
secret sensitive
sensitive confidential
confidential classified
classified classification
safe secure security
security protection
protect security
break_in breach security
hack breach security
leak breach
breach incident
lock block
locked blocked suspended
block suspend ban
blocked suspended
black_list blocklist
blacklist blocklist
ban block
whitelist allowlist
log_on login
user_name login account
log_into login
get_in access
get_access permission access
let_in access permission
look_at view
watch monitor
keep_an_eye monitor
monitor monitoring observe
observe observation
observation measurement
number_of count
numbers metric figures
figures metric kpi
key_figure kpi metric
part share
part_of share
slice share segment
market_share share
out_of rate share
how_often rate
figure_out calculate
add_up sum total
sum_up sum total aggregate
aggregate sum total
grand_total total
all_together total
altogether total
together total combined
in_total total
all_in_all total
by_country country
split_by dimension segment
break_down_by dimension
break_down split
slice_by dimension
group_by dimension
bucket segment group
band range bracket segment
bracket range tier
class tier segment
tier category
rich premium
important_customer key_account
big_customer key_account enterprise
large_customer key_account enterprise
vip key_account premium
small_customer smb
business_customer b2b
company_customer b2b
private_customer b2c consumer
private_person consumer
end_customer consumer
end_user consumer
consumer b2c
same_person duplicate identity
same_customer duplicate identity
same_thing duplicate synonym
two_times duplicate
more_than_once duplicate repeat
several_times duplicate repeat
count_twice duplicate
counted_twice duplicate
repeated duplicate
unique distinct
different distinct
only_once unique
match reconcile join
fit match
agree_with match reconcile
not_match mismatch discrepancy
mismatch discrepancy difference
discrepancy difference variance
disagree discrepancy
differ discrepancy difference
tie_up reconcile
balance_out reconcile
connect join link
connection relationship
hang_together relationship
belong_to relationship
belong_together group
linked relationship
link relationship join
relation foreign_key
glue join
bridge mapping
map mapping
translate mapping
mapping crosswalk translation
look_up_table reference mapping
list_of reference catalogue
list catalogue
dictionary glossary
glossary definition term
jargon glossary
word term
words term
short_for abbreviation
short_form abbreviation
acronym abbreviation
initials abbreviation
name_of naming
called naming
spell spelling naming
upper_case capital case
capital_letters case
number_plate registration
licence_plate registration
vin chassis
engine motor
petrol_station fuel
tank fuel
fill_up refuel fuel
charge_up charging battery
charging_point charging station
plug charging
battery charge
electric electricity
electric_car ev vehicle
ev electric_vehicle
driver trip
ride_share trip
taxi ride
pick_up_point stop
stops station
way route
detour route
drive trip
miles mileage
cover_distance mileage
accident incident safety
injured accident safety
hurt injury accident
near_miss incident
danger safety
hazard safety
helmet safety
fire_alarm alarm
warn alert
warning alert threshold
tell_me notify alert
notify notification
message notification
ping notification
beep alarm
machine plant
machine_time uptime
robots bot
spider crawler bot
not_human bot
non_human bot
automated_traffic bot
human user
visits traffic session
visitor session
website_visit session
web_traffic session
browse session
browsing session
surf session
sitting session
look_around browse
see_ad impression
shown impression
show_ad impression
click ctr
clicked ctr
open_mail open_rate
open_rate email
read_mail open_rate
mail_sent email
mailing_list newsletter
junk_mail spam
flyer leaflet
leaflet print
poster outdoor
tv television
commercial advertisement
ad_money ad_spend
ad_budget ad_spend
marketing_money ad_spend marketing_budget
marketing_cost ad_spend cac
win_a_customer acquisition cac
win_customers acquisition cac
get_customers acquisition
gain_customers acquisition
new_customer acquisition
gain acquisition
acquisition acquire
find_us channel source attribution
hear_about channel source attribution referral
how_found channel attribution
credit_for attribution
who_gets_credit attribution
recommendation referral
friend referral
bring_a_friend referral
word_of_mouth referral
tell_friends referral
stamp loyalty
collect_points loyalty
points loyalty
reward loyalty
code voucher coupon
promo_code voucher coupon
sale discount promotion
sale_price discount
clearance discount sale
reduced discount
cheaper discount
knock_off discount
percent_off discount
special_offer promotion discount
deal_of promotion
black_friday promotion peak
christmas peak season
easter holiday season
summer season
winter season
spring season
autumn season
school_holiday holiday
time_of_year season
busy_time peak
busy_season peak season
quiet low off_peak
quiet_time off_peak
off_peak low
crowd peak capacity
crowded peak capacity
traffic_jam congestion
jam congestion
full_up capacity
bottleneck capacity constraint
limit constraint
throughput rate
output production
turn_out produce
build production
assemble production assembly
assembly production
made_of bom component
ingredients bom recipe
what_goes_into bom component
component material
bad_parts scrap defect
defect fault scrap
flaw defect
faulty defect
first_time_right yield
good_parts yield
spot_check sample inspection
random_check sample inspection
check_goods inspection quality
inspect inspection audit
inspector audit
auditor audit
look_into investigate
investigate analysis
dig analysis
root_cause cause
reason cause_code
why reason cause
why_not reason exclusion
proof evidence
evidence audit
trail audit
who_changed audit log
who_did audit log
log history
written_down record documentation
write_down record document
note_down record
documentation wiki guide
instructions guide manual
how_to guide
handbook manual guide
checklist guide
step_by_step process guide
process procedure workflow
procedure process
steps process
flow process pipeline
night_run batch nightly
overnight batch nightly
nightly daily batch
run job
runs schedule job
run_time duration
timetable schedule
clock time timezone
clock_change daylight_saving
daylight_saving summer_time
summer_time timezone
midnight day_boundary
day_end cutoff
start_of_day day_boundary
day_start day_boundary
week_number iso_week
start_of_week monday
first_day start
financial_year fiscal
tax_year fiscal
business_year fiscal
year_end closing
half_year semester
term semester
school_year academic_year
three_months quarter
twelve_months year annual
rolling trailing moving
last_twelve_months trailing rolling
moving_average rolling smoothing
smooth average
up_to_now to_date
so_far to_date
year_so_far ytd year_to_date
ytd year_to_date
since_january year_to_date
mtd month_to_date
compared_to versus
last_year prior_year
year_before prior_year
year_on_year yoy
like_for_like comparable
same_store comparable like_for_like
up_to_date refresh
updated refresh
latest refresh recent
when_updated freshness refresh
out_of_date stale
stale freshness
late_data latency freshness
arrive_later late_arriving backfill
missing_data gap null
gap missing
gaps missing
hole gap missing
empty_field null
empty_value null
not_filled null
not_known unknown null
no_value null
nothing null empty
zero null
fill_in impute default
default standard
make_up_for compensate
compensate compensation refund
compensation payout
pay_out payout
payout disbursement
disburse payout
share_out distribute allocate
divide_up allocate
spread_over allocate accrue amortise
spread_cost depreciation amortisation
over_several_years depreciation
lose_value depreciation impairment
wear depreciation
buildings asset
machines asset equipment
belongings asset property
own asset ownership
owned asset ownership
ownership stake
stake share
stocks share
shareholder owner
bond security
invest investment capital
investment capex capital
capex capital_expenditure
opex operating_expense
running_cost operating_expense overhead
operating_cost opex overhead
day_to_day operating
renting lease
rented lease
lodger tenant
live_in tenant
landlord property
house property
home property
flat property
estate_agent broker
broker agent intermediary
middleman broker intermediary
go_between intermediary
agent broker
commission provision
our_cut commission take_rate
our_share commission take_rate
keep_for_ourselves commission margin
what_remains net margin
what_is_left net margin balance
left_after net margin
after_costs profit margin
before_costs gross revenue
after_tax net
before_tax gross
with_tax gross
tax_included gross
plus_tax gross
tax_rate vat
duty_free customs
council municipality government
authority regulator government
regulator authority compliance
rules policy regulation compliance
law legal regulation
in_court litigation legal
sue litigation legal
contract_end termination expiry
notice termination
run_out expire
run_out_of stockout
end_early terminate cancel
break_off cancel abandon terminate
stop_subscription cancel churn
pause_subscription pause
try_out trial
try trial
test_period trial
taster trial sample
demo_account test_account
our_own_people internal employee
own_staff internal employee
internal_use internal
staff_purchase employee internal
insider internal
test_account test
test_order test
dummy test
sandbox test environment
playground sandbox
practice test
practice clinic
rehearsal test
try_on test
trial_run test pilot
pilot trial test
experiment pilot
two_versions ab_test variant
which_version variant
better_version variant
winner variant win
by_chance significance random
luck chance random
sure significance confidence
certain significance confidence
certainty confidence
uncertain confidence risk
error_bar confidence
margin_of_error confidence
on_off flag
yes_no flag boolean
true_false flag boolean
flag boolean
switch_on flag enable
feature function
feature_flag toggle
toggle flag
new_feature release
new_version release
software application
program application
program programme
apps application
app_store store
laptop device
computer device
tablet device
screen page
screen display
screens page
page_load latency
load_time latency
loading latency
time_to_load latency
hang latency freeze
error_message error
error_rate failure
stack_trace error
memory storage
disk storage
space_left storage capacity
cloud hosting
server host
network connection
signal coverage
no_signal coverage
dead_zone coverage
dropped_call drop
call_drop drop
cut_off disconnect drop
disconnect churn
gigabyte volume
megabyte volume
allowance quota limit
data_plan plan tariff
used_up consumed exhausted
use_up consume exhaust
phone_abroad roaming
travel_abroad roaming
holiday_abroad roaming
phone_plan tariff
phone_number msisdn
number_porting porting
keep_number porting
watch_time viewing
viewing watch
binge watch
how_long_watch watch_time
finish_watching completion
complete completion
completed completion
finish completion
done completed
half_done incomplete
unfinished incomplete abandoned
drop_out dropout abandon
fall_out dropout
fail_exam fail
pass_exam pass
pass success
succeed success
success conversion
marks grade
school_report grade
report_card grade
homework assignment
assignment task
lecture class course
classroom room
campus site
finish_school graduation
graduate alumni
former_student alumni
get_into admission
admitted admission
accepted admission approved
accept approve
say_yes approve accept
say_no reject decline
turn_down reject decline
green_light approve
permission_from approval
four_eyes approval
second_pair approval
boss_agrees approval
agree consent approval
agreement contract consent
tick_box consent opt_in
cookie consent tracking
cookies consent tracking
track tracking
follow track tracking
follow_up reminder
trace lineage
where_data_comes lineage source
feed source
feeds source pipeline
upstream source
downstream consumer
raw_data source raw
layer stage
gold layer
silver layer
bronze layer
summary_table aggregate
rolled_up aggregate
roll_up aggregate
grain granularity level
level_of_detail grain granularity
one_row grain
per_row grain
row_means grain
detail granularity
fine_grained granularity
id_number identifier key
key_column key identifier
made_up_key surrogate
artificial_key surrogate
natural_key business_key
recognise identify identity
identify identity
who_is identity
know_who identity
same_name duplicate
mixed_up mismatch
mix_up error mismatch
patient_number identifier
medical_record record
file record
case claim
damages claim
insured claim policy
insurer insurance
insurance_money claim payout
pay_damage claim settlement
settle claim
loss_ratio claims
premium price
policy contract
accident claim
ambulance emergency
emergency urgent triage
triage priority
a_and_e emergency
doctor appointment
see_doctor appointment
operating_theatre surgery
theatre surgery
theatre cinema
bed_days length_of_stay
go_home discharge
sent_home discharge
readmission readmit
readmit return
back_in_hospital readmission
die mortality
died mortality
dead deceased
survive survival
alive active
illness_code diagnosis
icd diagnosis
medicine dose
pills drug medication
pill drug medication
tablets drug medication
side_effects adverse
shot vaccine
jab vaccine
blood_test lab
test_result lab result
result outcome
grow crop yield
plot parcel field
acre area
hectare area
harvest yield
per_acre yield
per_hectare yield
cow livestock
cattle livestock
milk dairy
egg poultry
soil ground
watering irrigation
water_plants irrigation
irrigation water
dry drought moisture
wet moisture
humidity moisture
plant_food fertiliser
fertilizer fertiliser
spray pesticide
give_money donation
give donation
gave donation
charity donation
collect_money fundraising donation
raise_money fundraising
fundraiser campaign
help_out volunteer
unpaid_helper volunteer
voter election
polling_station election
win_election election
citizen_request request
town_hall municipality
waste_collection waste
bin waste
parking_fine fine
ticket fine
fine penalty
building_permit permit
paperwork document form
form application
papers document
passport identity
id_card identity
prove_identity kyc verification
check_identity kyc verification
dirty_money money_laundering
launder money_laundering
terror sanctions
sanctions screening
pay_back_loan repayment
pay_off repayment
loan_not_paid default
not_pay_back default
cannot_pay default insolvency
bankrupt insolvency
go_bust insolvency
creditworthy credit_score
credit_check credit_score
credit_rating credit_score
collateral security
atm cash_machine
cash_machine withdrawal
take_out_money withdrawal
overdraft overdrawn
in_the_red overdraft negative deficit
in_the_black profit
break_even profit
break_even threshold
power_cut outage
blackout outage
no_power outage
light electricity
meter_reading consumption
read_the_meter reading
power_use consumption
energy_use consumption
kwh consumption
electricity_bill tariff
sun solar
sunlight solar
wind_farm wind
pollution emission
pollute emission
exhaust emission
carbon_dioxide co2
climate emission
climate_friendly renewable
environment climate
eco green
sustainable green
sustainability esg
bottle_return deposit
leftovers waste
food_waste waste
kitchen restaurant
cook kitchen
waiter server
table_turn turnover
tips gratuity
eat meal restaurant
dinner meal
lunch meal
guest_count covers
takeaway delivery
hotel_guest guest
holidaymaker guest
tourist visitor
tour trip
arrival_day check_in
arrive_at check_in
depart check_out
leave_hotel check_out
flight_delay delay
plane_late delay
miss_connection connection
suitcase luggage
board boarding
seats_filled load_factor
seats_sold load_factor
empty_seats load_factor
load_factor occupancy
cargo freight
container freight
dock port
berth port
concert_ticket ticket
audience attendance
spectator attendance viewer
crowd attendance
listener audience
plays stream
played stream
singer artist
author royalty
pay_artists royalty
rights licence
copyright licence
player user
level_up level
in_app purchase
in_game purchase
virtual_money currency
daily_users dau
users_per_day dau
monthly_users mau
users_per_month mau
dau active_user
mau active_user
wau active_user
use_app active
active_people active_user
who_uses active_user
come_regularly active retention
stick retention
stickiness retention
cohort retention
group_of_users cohort
started_in_same cohort
survival retention
cut_in half
top_ten ranking
league_table ranking
best_seller top ranking
bestseller top ranking
popular top best
popularity ranking
slow_seller slow_moving
shelf_warmer slow_moving
slow_moving dead_stock
stock_turn turnover
inventory_turn turnover
turn_over turnover
days_of_stock coverage cover
days_cover coverage
safety_stock buffer
buffer safety_stock reserve
reserve buffer provision
reserved allocated
set_aside reserve provision
put_aside reserve provision
keep_back reserve retain
back_order backorder
backorder pending
waiting_for pending
not_yet pending open
yet_to pending open
under_way in_progress
in_progress open
on_its_way in_transit
on_the_way in_transit
in_transit shipped
en_route in_transit
sent shipped
shipped dispatched
arrived delivered
delivered received
handed_over delivered
state_of status
where_order status tracking
life_cycle status lifecycle
lifecycle status stage
stages status lifecycle
arrange schedule plan
attack breach
award bonus prize
prize reward bonus
perk benefit
benefit allowance bonus
compete competitor
competition competitor
continue renew
cure treatment therapy
therapy treatment
treat treatment
treatment procedure medication
develop development software
boundary edge limit
employ hire
escape leave
exit leave bounce
fear risk
gather collect
guard security
industry sector
sector industry branch segment
branch location site
manage manager
newspaper media press
press media
media channel
poor low
possible potential
prevent avoid
avoid exclude prevent
punish penalty
ready complete
rough approximate estimate
roughly approximate estimate
nearly approximate
exactly accuracy precise
research study
study analysis
sheet spreadsheet
spreadsheet excel
excel export
export download
extract export
south region
north region
storm weather
surprise unexpected anomaly
unexpected anomaly
tomorrow forecast
yesterday daily previous
today current daily
world global
global international worldwide
everywhere global all
worry risk concern
concern issue
wound injury
weigh weight
surge_pricing dynamic
dynamic_pricing surge
price_list tariff catalogue
list_price gross full
full_price list_price
sticker_price list_price
pay_more surcharge upgrade
pay_less discount downgrade
grace_period tolerance extension
grace tolerance
days_to_pay payment_term
time_to_pay payment_term dso
payment_term due_date
dso receivable
ageing overdue aging
aging overdue
credit_note refund correction
correct_an_invoice credit_note
cancel_an_invoice credit_note void
void cancelled
prorate pro_rata partial
pro_rata partial proportional
proportional pro_rata
billing_cycle billing invoice
bill_date billing
when_billed billing
seat licence user
seats licences users
licence seat
free_version freemium free_tier trial
free_plan freemium free_tier
freemium free_tier
start_paying convert conversion
begin_paying convert conversion
become_a_customer convert conversion
turn_into convert conversion
failed_payment involuntary
card_expired involuntary failed
card_declined failed decline
retry failed attempt
try_again retry
attempt try
win_back reactivation
reactivate reactivation return
reactivation resurrected return
wake_up reactivation
asleep dormant inactive
silent inactive dormant
not_seen inactive
not_come_back churn lapsed
no_longer_customer churn former
former churn ex
ex_customer churn former
cost_centre department
cost_center department
accounting_unit entity
entity company subsidiary
daughter_company subsidiary
parent_company group
group_company intercompany
between_companies intercompany
sister_company intercompany
consolidate group intercompany
eliminate intercompany consolidate
book posting
book_date posting
post posting
posting_date booking
books ledger accounting
bookkeeping accounting ledger
accounts ledger
closing_date close
lock_the_books close
cannot_change locked closed
frozen locked snapshot
change_afterwards restate correction
restate correction adjust
adjust adjustment correction
adjustment correction
correct_later adjustment restate
change_later late_arriving restate
slow_change scd
change_slowly scd dimension
scd history dimension
old_address history scd
previous_value history scd
as_of snapshot
point_in_time snapshot
state_at snapshot
photo_of snapshot
picture_of snapshot
partition date
partitioned partition
split_table partition shard
big_table partition
large_table partition
only_new_rows incremental
new_rows incremental
incremental delta
delta change difference
full_load reload
load_again reload backfill
reprocess reload backfill
rerun reload backfill
run_again rerun backfill
redo rework rerun
load_old_data backfill
fill_history backfill
repair_history backfill
schema_change migration
add_a_column schema
column_name naming
table_name naming
prefix naming
suffix naming
plural naming
underscore naming
convention standard
house_style convention
style convention
agreed_name naming convention
primary_key key identifier
unique_key key identifier
join_key key
join_on key
how_to_join key relationship
combine_tables join
fan_out duplicate
multiply_rows duplicate
double_rows duplicate
double_counting duplicate
data_check validation quality
quality_check test inspection
data_test validation quality
validation check rule
plausible validation plausibility
make_sense plausibility validation
sanity plausibility validation
complete_data completeness
completeness missing
missing_rows completeness
uniqueness unique duplicate
timeliness freshness
data_owner steward owner
steward owner
certified official verified
official certified
approved_report certified
trusted certified verified
reporting report
board_report report
picture chart
draw chart
visual chart
emergency_contact on_call
on_call standby
night_duty on_call
who_to_call on_call escalation
page_someone on_call
postmortem incident
lesson_learned postmortem
access_request permission
ask_for_access permission access
get_the_data access permission
see_salaries permission confidential
see_names permission personal
need_to_know confidential
delete_my_data erasure gdpr
my_data gdpr personal
data_request gdpr
minimum_group threshold privacy
small_group threshold privacy
few_people threshold privacy
identifiable personal anonymise
recognisable personal anonymise
probation trial
probation_period trial
tenure length_of_service seniority
length_of_service tenure
years_in_company tenure
seniority tenure grade
pay_grade band level
salary_band grade level
salary_range band
span_of_control manager
direct_report manager
how_many_report span
promoted promotion
move_up promotion
career promotion
rate_staff appraisal
staff_review appraisal
evaluate appraisal assess
assess assessment
judge assess
evaluation assessment
mood_survey engagement
staff_survey engagement
happy_staff engagement
staff_happiness engagement
motivation engagement
full_time fte
part_timer part_time fte
half_time part_time fte
working_hours hours timesheet
clock_in timesheet
clocked timesheet
time_sheet hours
hours_worked timesheet
billable utilisation
charge_hours billable
consultant billable utilisation
busy_consultant utilisation
bench utilisation
idle_staff bench utilisation
travel_cost expense
travel_money expense per_diem
business_trip expense
per_diem allowance
allowance benefit
receipts expense
claim_back expense reimburse
get_back expense reimburse refund
company_card expense
spending_limit approval limit
sign_for approval
who_signs approval
order_material procurement
order_supplies procurement
supplier_late supplier delay
bad_supplier supplier rating
rate_suppliers scorecard
scorecard rating
inco_terms incoterms
who_pays_freight incoterms
freight_cost shipping
postage shipping
shipping_cost freight
send_for_free free_shipping
free_delivery free_shipping
split_order partial shipment
part_delivery partial
partial_delivery shipment
several_parcels shipment split
sent_separately partial shipment
substitute replacement
replacement exchange
replace exchange
wrong_size return exchange
too_small return
too_big return
unsold surplus
count_stock stocktake inventory
stocktake inventory count
stocktaking inventory count
inventory_count stocktake
cycle_count stocktake
physical_count stocktake
book_stock inventory
stock_on_hand inventory
on_hand inventory stock
on_shelf inventory availability
in_the_warehouse inventory stock
order_again reorder replenish
when_to_order reorder
reorder_point minimum
minimum_stock reorder safety_stock
first_in fifo
oldest_first fifo
fifo batch
use_by expiry
lot_number batch
recall batch trace
call_back_products recall
product_recall batch
trace_back traceability batch
traceability trace batch
which_batch traceability
line_stop downtime
stoppage downtime
stoppages downtime
machine_stop downtime
changeover setup
set_up_time setup
setup_time changeover
retool setup changeover
ideal_speed performance
machine_speed performance
effectiveness efficiency
efficiency utilisation productivity
productivity output efficiency
output_per_hour productivity
work_per_hour productivity
pieces_per_hour productivity throughput
mean_time_between mtbf
time_between_failures mtbf
mtbf reliability
time_to_repair mttr
mttr repair
planned_stop maintenance
preventive maintenance
service_interval maintenance
oil_change maintenance
calibrate calibration
calibration sensor accuracy
sensor_wrong calibration
drift calibration
sampling_rate interval
every_minute interval
reading_missing gap
signal_lost gap
peak_load demand
load_peak demand
base_load demand
feed_in solar export
sell_power feed_in
grid_loss loss
line_loss loss
smart_meter meter
estimated_reading estimate
estimate_reading meter
day_rate tariff
night_rate tariff off_peak
degree_day heating
heating temperature
warm_winter weather
weather_adjusted normalise
normalise adjust
normalised adjust
normalize adjust
seasonal_adjusted seasonal
scope_one emission
scope_two emission
scope_three emission
carbon_footprint emission
offset emission
tonne weight
ton weight
waiting_list queue
wait_for_surgery waiting
see_a_doctor waiting
casualty emergency
icu intensive_care
intensive_care ward
ventilator intensive_care
infection hospital_acquired
infected infection
bug infection
germ infection
outbreak infection
normal_range reference
reference_range normal
blood_value lab
abnormal_result abnormal flag
lab_test specimen
sample_taken specimen
insurance_number identifier
next_of_kin contact
general_practitioner physician
gp physician
specialist physician referral
refer referral
family_doctor physician
pupil_absence attendance
miss_class attendance absence
skip_class attendance absence
late_pupil attendance
attend_class attendance
credits course
credit_point credits
final_mark grade
average_mark gpa
grade_average gpa
gpa grade
repeat_a_year retention
leave_school dropout
leave_early dropout
finish_degree graduation
time_to_degree graduation
class_size enrolment
number_of_students enrolment
head_of_students enrolment
rent_arrears arrears
late_rent arrears
rent_increase indexation
indexation adjust
lease_end expiry
move_out termination vacancy
move_in start
empty_flat vacancy
not_let vacancy
deposit security
heating_cost utilities
utilities service_charge
service_charge ancillary
common_area area
lettable area
living_space area
property_value valuation
guest_review rating
no_show_fee cancellation
late_cancel cancellation
cancel_booking cancellation
cancelled_booking cancellation
revpar revenue_per_room
adr average_rate
room_night night
number_of_nights night
holiday_flat accommodation
booking_site channel ota
ota channel
travel_agent channel
book_direct channel
book_ahead lead_time
booked_ahead lead_time
in_advance lead_time
days_before lead_time
on_time_arrival punctuality
arrive_on_time punctuality
delayed_flight delay
late_train delay
flight_cancelled cancellation
passenger_rights compensation
seat_kilometre capacity
miles_flown distance
frequent_flyer loyalty
fare_class class
economy class
claim_number claim
report_a_damage claim
reported_damage claim
claims_paid loss_ratio
open_claim reserve
claims_reserve reserve
own_share deductible excess
deductible excess
insurance_premium premium
written_premium premium
earned_premium premium
cancel_policy lapse
policy_lapse lapse
lapse churn
lapsed churn
fraud_alert fraud
card_fraud fraud
stolen_card fraud
odd_payment fraud suspicious
large_cash money_laundering
politically_exposed pep
risk_class risk
risk_score risk
bad_loan default
npl default
ninety_days default overdue
provision reserve
late_payer arrears
interest_paid interest
loan_term duration
loan_amount principal
principal loan
fixed_rate interest
branch_office branch
deposit_account deposit
new_account account_opening
open_an_account account_opening
dormant_account dormant
exchange_fee fee
trading_day business_day
price_at_close closing
stock_price price
market_cap capitalisation
data_used data_volume
mobile_data data_volume
minutes_used usage
calls_abroad roaming
use_abroad roaming
eu_roaming roaming
network_down outage
mast tower
change_provider porting churn
switch_provider porting churn
take_number_along porting
sim_swap sim
prepaid top_up
contract_customer postpaid
postpaid contract
video_view view
counts_as_view view
seconds_watched view watch_time
skipped skip
skip bounce
episode series
series show
chapter episode
season_of_show series
title_catalogue catalogue
streamed stream
song_plays stream
royalty_rate royalty
artist_share royalty
player_spend purchase
whale spender
big_spender whale
game_session session
matchmaking match
cheating_player ban
ban_player ban
crash_rate stability
stability crash
app_crash stability
ad_revenue advertising
cost_per_thousand cpm
cpm impression
viewable viewability
viewability impression
click_fraud invalid_traffic
fake_clicks invalid_traffic bot
fake_traffic invalid_traffic bot
invalid_traffic bot
last_click attribution
first_click attribution
which_ad attribution
utm campaign
tagged_link utm
link_tag utm
tracking_link utm
lookback window
look_back window attribution
days_after_click window
qualified_lead mql
mql lead
lead_score lead
hot_lead lead score
sales_ready lead
deal_size amount
deal_stage pipeline
likely_to_close probability
weighted_pipeline forecast
sales_forecast pipeline
sales_target quota
sales_bonus commission
who_gets_commission commission
split_commission commission
territory_owner territory
account_manager owner
account_owner owner
handover_account owner
big_deal approval
discount_limit approval
who_approves approval
max_discount approval limit
price_approval approval
renewal_rate renewal
contract_renewed renewal
nrr net_revenue_retention
net_revenue_retention expansion
grr gross_revenue_retention
customer_health health_score
health_score churn
at_risk churn health_score
onboard onboarding
first_value activation
aha activation
first_use activation
get_started onboarding
set_up_customer onboarding
implementation onboarding
go_live_customer onboarding
first_contact first_response
time_to_answer response_time
time_to_fix resolution_time
solve_time resolution_time
solved_at_once first_contact_resolution
one_call first_contact_resolution
reopened reopen
reopen resolve
ticket_comes_back reopen
priority_one severity
p1 severity priority
urgent_ticket priority severity
support_hours business_hours
weekend_ticket business_hours
promised_answer sla
missed_promise sla breach
breach_of_sla breach
out_of_sla breach
`
