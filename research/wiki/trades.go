package wiki

// trades has what people say for what the handbooks of many trades call otherwise: of
// offices and buildings, travel, health, schools, shops, kitchens, factories, sites,
// farms, energy, networks, law, insurance, money and software. It continues the
// thesaurus, in the same form. It was written from general knowledge by an author who
// had seen no page and no question of package wikitest.
const trades = `
badge id_card access_card identification pass
door entrance access entry
lock_out access locked credential lockout
lift elevator
air_conditioning heating ventilation climate hvac
too_hot temperature heating cooling
light lamp lighting bulb
clean cleaning janitor housekeeping hygiene
rubbish_bin waste disposal recycling garbage trash
parking car_park garage parking_space
desk workplace workstation workspace
share_desk hot_desk desk booking
meeting_room conference_room room booking
visitor guest reception
front_desk reception receptionist
canteen cafeteria lunch meal catering
coffee kitchen pantry beverage
fire_drill evacuation emergency_exit assembly_point
first_aid injury accident emergency
hurt injured injury accident harm
slip fall accident
fix repair mend restore maintenance
not_work broken out_of_order malfunction defect fault
stop_working failure malfunction breakdown
worn_out wear replacement obsolete
noise sound loud complaint disturbance
smell odour gas leak
leak water drip spill plumbing
flood water_damage
mould damp moisture humidity
pest insect vermin infestation
paint decoration finish coating
rebuild renovation refurbishment conversion
builder contractor construction
blueprint drawing plan design
crane lifting hoist
scaffold ladder height
helmet protective ppe safety
dig excavation trench earthwork
handover acceptance completion transfer
snag defect punch_list rework
lay_off redundancy downsizing termination
let_go dismissal termination layoff
quit resign resignation leave notice
give_notice resignation termination notice_period
rehire re_employment returning
apply application candidate applicant
job_interview interview recruitment hiring selection
hire recruit recruitment onboard
trainee apprentice apprenticeship intern
mentor buddy coach supervisor
appraisal performance_review evaluation feedback
bad_performance improvement underperformance warning
raise pay_rise increment salary_review
overtime extra_hours additional_hours
night_shift shift allowance
half_time part_time reduced_hours
work_from_home remote telework home_office teleworking
work_abroad remote foreign assignment relocation
move_house relocation removal
baby maternity paternity parental_leave birth
pregnant maternity pregnancy
funeral bereavement compassionate_leave death
wedding marriage special_leave
doctor_note medical_certificate sick_note
off_sick sick_leave absence illness
burn_out stress wellbeing mental_health
bully harassment bullying misconduct
report_wrongdoing whistleblowing compliance ethics
gift hospitality bribery benefit
bribe corruption bribery
side_job secondary_employment outside_activity conflict_of_interest
retire retirement pension
pension retirement superannuation
pay_slip payslip salary payroll
paid_twice duplicate_payment overpayment
underpaid shortfall back_pay
tip gratuity
sack dismissal termination
union works_council labour employee_representative
strike industrial_action walkout
clock_in time_recording attendance timesheet
day_off leave holiday vacation
public_holiday bank_holiday closed
carry_over rollover unused transfer
flight airline air_travel airfare
train rail railway
taxi cab ride
rental_car car_hire hire_car vehicle
own_car private_vehicle mileage
drive vehicle driving mileage
car vehicle automobile fleet
truck lorry hgv vehicle
tyre wheel tire
driving_licence license driver
speeding fine penalty traffic
crash collision accident
tow breakdown roadside
number_plate registration vehicle
luggage baggage suitcase bag
passport visa travel_document
daily_allowance per_diem subsistence meals
receipt voucher proof_of_purchase expense
claim_back reimbursement refund expense_claim
out_of_pocket expense reimbursement
get_paid payment payout remuneration
cash petty_cash money
bank_transfer wire remittance payment
standing_order direct_debit recurring
bounce_cheque dishonoured returned failed_payment
card_declined authorisation rejected failed_payment
loan credit borrowing mortgage
borrow loan lend
repay repayment settle redemption
guarantor surety guarantee
pawn collateral pledge security
overdraft negative_balance credit_line
savings deposit account
cash_machine atm withdrawal
foreclose repossession default
stock share equity security
dividend distribution payout
broker_fee commission brokerage
tax_office revenue authority fiscal
write_down impairment depreciation
cook_books fraud misstatement
spending expenditure cost outlay
savings_target reduction cost
price_tag price label
haggle negotiation discount
mark_up margin surcharge
mark_down discount reduction clearance
till cash_register point_of_sale checkout
queue line waiting wait
shoplift theft shrinkage
stolen theft stealing burglary
shop store outlet branch
assistant clerk staff associate
regular customer loyal patron
fitting size measurement
swap exchange replacement
wrong_item mispick incorrect substitution
damaged_in_transit breakage damage carrier
parcel package shipment consignment
letter mail correspondence post
pick_up collection pickup collect
drop_off delivery deposit
doorstep last_mile delivery
not_home missed_delivery failed_delivery redelivery
neighbour alternative recipient
track_parcel tracking shipment status
freight cargo goods transport
load loading cargo
unload unloading discharge receiving
dock ramp bay terminal
pallet skid load_unit
forklift truck handling
dangerous_goods hazardous hazmat chemical
customs_duty tariff import
border customs
port harbour terminal
recall withdrawal product_safety
best_before expiry shelf_life expiration
go_off spoil spoilage perishable expire
fridge refrigerator cooling cold_storage
recipe formula bill_of_materials
cook chef kitchen
waiter server service
table reservation booking
allergy allergen intolerance
peanut nut allergen
vegan vegetarian diet dietary
takeaway delivery order
leftover surplus waste
dish course meal
wine alcohol beverage
hotel_room room accommodation
check_in arrival registration
check_out departure
overbook overbooking capacity
no_show absent missed appointment
towel linen laundry
pet animal dog
smoke smoking cigarette tobacco
pool swimming leisure
guest_review rating feedback
sightseeing tour excursion
guide leader manual
ticket_refund cancellation reimbursement
seat place chair
concert event performance show
stage venue hall
crowd attendance capacity
lost_property lost found
patient client case
surgery operation procedure
hospital clinic ward
get_well recovery rehabilitation
send_home discharge release
see_doctor consultation appointment visit
waiting_list queue backlog
prescription medication drug
side_effect adverse_event reaction
dose dosage quantity
blood_test laboratory sample
x_ray imaging radiology scan
wash_hands hygiene infection
germ infection bacteria virus
contagious infectious infection
mask protective ppe
wheelchair accessibility disability mobility
disabled disability accessibility impairment
blind visually_impaired accessibility
deaf hearing hearing_impaired
elderly senior older aged
carer caregiver care
child_care nursery kindergarten daycare
teacher instructor lecturer tutor
pupil student learner
mark grade score
fail_exam resit retake
report_card transcript grade
homework assignment coursework
term semester
enrol enrolment registration admission
drop_out withdrawal attrition
skip_class absence truancy attendance
copy plagiarism cheating
scholarship grant bursary funding
tuition fee
library lending book
head_teacher principal headmaster
parent guardian family
timetable schedule calendar
playground yard
donor giver supporter contributor
give donate donation contribution
volunteer unpaid helper
fundraise campaign appeal donation
will legacy bequest testament
member membership subscriber
dues membership fee subscription
vote election ballot poll
chair chairperson president head
minutes record protocol meeting
committee board panel
bylaw statute regulation
lawyer attorney counsel legal solicitor
sue lawsuit litigation legal_action
court tribunal litigation
judge court ruling
settle_out settlement agreement
witness testimony statement
sign signature execution
breach_contract violation default
small_print terms conditions
confidential nda secret non_disclosure
trademark brand intellectual_property
invent patent invention
copyright licence intellectual_property
liable liability responsible
compensate compensation indemnity damages
insured policyholder covered
make_claim claim notification loss
deductible excess own_contribution
premium insurance contribution
payout settlement benefit
underwrite risk underwriting acceptance
fraudulent_claim fraud investigation
accident_report incident notification
next_of_kin beneficiary relative
death deceased
inherit inheritance estate
electricity power energy
power_cut outage blackout interruption
bill invoice statement charge
solar photovoltaic renewable
wind turbine renewable
gas heating fuel
read_meter meter_reading consumption
supplier_change switch provider transfer
cut_off disconnection termination
reconnect restoration reactivation
grid network distribution
charge_car charging electric_vehicle
carbon emission co2 greenhouse
footprint emission impact
tree forest timber wood
crop harvest plant yield
field plot land
cattle cow livestock animal
milk dairy
spray pesticide treatment
fertiliser nutrient manure
soil ground earth
rain precipitation weather
drought irrigation water
vet veterinary animal
fish fishery catch
tractor machine vehicle
seed sowing planting
machine equipment plant asset
breakdown downtime stoppage failure
spare_part component replacement
tool equipment instrument
grease lubrication oil
screw fastener bolt
assembly_line production line
shift_change handover
work_order job production_order
set_up changeover setup configuration
output production yield throughput
scrap_rate reject yield waste
inspect inspection check quality_control
out_of_spec nonconforming deviation tolerance
measure gauge measurement calibration
calibrate calibration accuracy
blueprint_change engineering_change revision
bill_of_material component parts_list
lead_time delivery_time turnaround
just_in_time replenishment supply
bottleneck constraint limiting
mine quarry extraction
drill drilling bore
weld joint joining
steel metal
plastic polymer resin
glue adhesive
cloth fabric textile
sew stitching garment
phone_line telephone extension
answer_phone call hotline
voicemail message recording
dead_spot coverage signal reception
roaming abroad foreign
sim_card subscription number
keep_number portability porting
broadband internet connection
wifi wireless network internet
slow_internet bandwidth speed
router modem gateway
cable line connection
dropped_call disconnection interruption
data_allowance quota limit bundle
laptop computer notebook device
screen monitor display
mouse peripheral keyboard
printer printing
toner cartridge consumable
usb removable_media stick
cannot_log_in lockout access credential
forgot_password reset recovery
log_in sign_in authentication access
single_sign_on sso authentication identity
locked_account lockout unlock
virus malware infection
phish phishing scam suspicious
spam junk unsolicited
lost_laptop lost_device theft
install installation setup deploy
software application program
app application software
update patch upgrade
reboot restart
freeze hang unresponsive
blue_screen crash error
file_share folder drive storage
restore recovery backup
share_file sharing access collaboration
mailing_list distribution_list group
out_of_office absence auto_reply
calendar schedule appointment
video_call conference meeting
record_call recording
server host machine
database data_store
query_slow performance latency optimisation
schema structure model
migrate migration move transition
roll_out deployment release launch
roll_back revert rollback
hotfix patch emergency_change
code_review review approval merge
branch version fork
unit_test testing
flaky unstable intermittent
log record trace entry
alert alarm notification page
woken_up on_call paging
post_mortem incident review root_cause
root_cause reason analysis
down outage unavailable downtime
uptime availability sla
load traffic demand capacity
grow scale scaling expansion
secret_key credential token secret
rotate_key rotation renewal
certificate_expire renewal tls
firewall network security
vpn remote_access tunnel
pen_test security_test vulnerability
hole vulnerability weakness
leak_data breach disclosure exposure
anonymous anonymised pseudonym
personal_details personal_data privacy
right_to_forget erasure deletion
cookie tracking consent
customer_data personal_data record
data_owner steward responsible
where_data lineage source origin
trust quality reliability
stale outdated old
duplicate double repeated
typo misspelling error
blank_field missing null
guess estimate estimation approximation
rough approximate estimate
rule_of_thumb guideline heuristic
rule policy regulation guideline
must_not prohibited forbidden
may_i permission allowed
ask_boss approval authorisation manager
boss manager supervisor superior
colleague coworker teammate
worker employee staff
crew team staff
person_in_charge responsible owner manager
sign_off approval authorisation
paperwork documentation form
red_tape bureaucracy formality
step_by_step procedure instruction guide
how_to instruction guide procedure
manual handbook guide instruction
who_to_call contact escalation
phone_number contact
get_hold reach contact
get_back reply response callback
answer reply response
late_reply response_time
angry complaint dissatisfied escalation
sorry apology goodwill
make_up compensation goodwill
thank_you gift appreciation reward
birthday anniversary
party celebration event
competition contest
prize award reward
lucky_draw lottery raffle
win_back reactivation churned
friend_invite referral
try_before trial sample
free complimentary gratis no_charge
cheap low_price inexpensive economical
expensive costly price
worth value
cost price fee charge
fee charge levy
hidden_cost surcharge fee
surcharge supplement extra
pay_later deferred credit instalment
pay_now immediate upfront
split_bill partial share
owe debt outstanding liability
chase dunning collection reminder
late_fee penalty interest
fine penalty sanction
punish penalty sanction disciplinary
warn warning caution
last_warning final_notice
evict eviction removal
key_lost lost replacement
spare_key duplicate
move_in start commencement
move_out end departure
lease contract tenancy agreement
caretaker janitor facility_manager
common_room shared communal
storey floor level
roof ceiling
wall partition
window glass glazing
stairs staircase steps
fence boundary
garden grounds landscape
snow winter ice clearing
storm weather
alarm_system burglar security
camera cctv surveillance
guard security
break_in burglary intrusion
throw_out disposal discard
second_hand used refurbished
broken_down failure breakdown
tidy clean order
store_away storage archive
shred destruction disposal
stamp seal postage
envelope mail
scan digitise digital
photo image picture
film video
sound audio
translate translation language
speak_language language
subtitle caption
newspaper press publication
article text item
author writer creator
editor editing
print publish publication
headline title
ad_slot placement inventory
audience reach viewers
follower subscriber fan
influencer creator partner
campaign promotion
slogan claim message
brand mark label
logo trademark
trade_fair exhibition event
booth stand exhibit
citizen resident inhabitant
council municipality local_authority
permit licence authorisation approval
building_permit planning_permission construction
birth_certificate civil_registry document
id_document identity passport identification
register_address residence registration
apply_for application request
fill_in complete form
hand_over transfer delivery handover
hand_back return restitution
deposit_back refund release
pay_back repayment reimbursement refund
pay_up settle payment
pay_in deposit top_up
top_up recharge credit
cash_out withdrawal redemption payout
money_missing shortfall discrepancy deficit
money_left balance remaining surplus
cover_cost reimburse fund pay
cost_too_much expensive overpriced
worth_it benefit value return
cut_cost saving reduction efficiency
owe_money debt liability outstanding
in_debt insolvent liability indebted
go_under insolvency bankruptcy
take_over acquisition succession
look_for search find locate
look_up search query reference
look_into investigate investigation inquiry
find_way navigation directions
get_there directions travel arrival
get_hurt injury accident
get_ill illness infection
get_better improve recovery
get_worse deteriorate decline escalation
get_in access entry admission
get_out exit evacuation leave
get_through pass reach
get_started onboarding introduction beginning
get_ready preparation prepare
get_approval approval authorisation
keep_secret confidential secrecy
keep_record record_keeping retention documentation
keep_up maintain sustain
keep_out restricted prohibited
keep_safe protect secure safeguard
hold_back withhold retention
hold_up delay obstruction
put_off postpone defer delay
put_back restore return
put_together assemble compile
put_down record deposit
call_off cancel cancellation
call_back callback return
call_in report notify
carry_out perform execute conduct
check_up examination inspection review
clean_up cleansing cleanup tidy
close_down closure shutdown
cut_down reduce reduction
draw_up prepare draft
drop_out withdrawal abandonment
end_up result outcome
fall_behind delay arrears backlog
fall_through fail cancellation
find_fault inspection defect
follow_up reminder chase
give_away donate gift free
give_back return refund
give_up abandon cancel
go_ahead approval proceed
go_over exceed review
go_through review process
go_wrong fail error problem
grow_up mature
hand_down inherit
help_out assist support assistance
join_in participate enrol
leave_alone ignore
let_in admit access
let_know notify inform
line_up schedule arrange
live_with cohabit household
lock_up secure close
log_out sign_out session
make_sure ensure verify
make_mistake error correction
mix_up confusion error swap
move_on progress
own_up confess disclose
pass_out faint unconscious
pass_away death deceased
point_out notice flag
pull_out withdrawal
run_away abscond
run_into encounter
run_over exceed overrun
sell_off disposal divest
send_in submit submission
send_on forward forwarding
send_off dispatch ship
set_aside reserve provision
set_out depart
show_up attend arrival attendance
shut_down stop shutdown closure
slow_down decelerate reduce
speed_up accelerate expedite
split_up divide separate partition
stand_in deputy substitute replacement
stand_for abbreviation represent
step_down resign resignation
step_in intervene substitute
stock_up replenish
sum_up summary
take_back return
take_care responsible care
take_long duration time
take_off deduct depart
take_on hire accept
take_out remove withdraw
take_part participate participation
take_place occur event
talk_over discuss meeting
tear_down demolition dismantle
tell_off reprimand warning
think_over reconsider cooling_off
throw_away dispose discard
tidy_up clean
turn_down reject decline refusal
turn_off disable deactivate shutdown
turn_on enable activate
turn_up attend arrive
use_wrong misuse
wait_for await pending
wake_up alert
wear_out wear fatigue
write_down record note
write_up report documentation
change_mind withdrawal cooling_off cancel
cooling_off withdrawal revocation
not_happy dissatisfied complaint
not_allowed prohibited forbidden
not_enough insufficient shortage lack
not_sure unclear uncertain
not_need unnecessary surplus
not_come absent no_show
not_answer unresponsive unreachable
not_agree dispute objection
not_true false incorrect
not_working broken failure defect
not_used unused idle
not_arrive missing lost delayed
not_match mismatch discrepancy
not_finish incomplete unfinished
too_late overdue deadline expired
too_early premature
too_long excessive duration
too_much excess overuse
too_many excess limit
too_few shortage insufficient
too_big oversize
too_small undersize
too_heavy overweight weight
too_slow latency slow
how_far distance range reach
how_soon lead_time deadline
how_hot temperature
how_heavy weight
how_big_team headcount size
who_signs signatory authorised signature
who_knows contact expert
who_works employee staff
who_did author audit
who_bought buyer purchaser customer
who_gets recipient eligible beneficiary
who_else alternative
what_happens consequence procedure
what_counts definition criterion include
what_time schedule hours
what_means definition glossary
where_put storage location
where_go directions destination
where_send address recipient
where_keep storage location
when_start start_date commencement
when_paid payment_date payday
when_open opening_hours
when_due due_date deadline
why_refuse rejection reason
why_different discrepancy reconciliation
why_high increase driver
law legislation regulation statute
illegal unlawful prohibited
crime offence criminal
police authority law_enforcement
prison detention custody
weapon firearm
drunk alcohol intoxicated
drug_test screening substance
gamble betting wager
age_limit minor underage
under_age minor juvenile
grown_up adult
kid child minor
husband spouse partner wife
family dependant relative
divorce separation
single unmarried
friend acquaintance
neighbour adjacent resident
stranger unknown third_party
nation country
abroad foreign overseas international
local regional domestic
home_country origin domestic
immigrant migration visa
refugee asylum
army military defence
church religion
race ethnicity
fair equal equitable impartial
unfair discrimination bias
equal_pay equality parity
diverse diversity inclusion
sex gender
old_person senior elderly
healthy wellbeing fitness
sport fitness exercise
match game fixture
coach trainer instructor
player athlete
team_leader captain supervisor
score result points
record_time best
injury_time delay
ground pitch field
gym fitness
course training programme
beginner novice entry_level
expert specialist professional
skill competence qualification
learn training education
teach train instruct
practise exercise rehearse
talent skill potential
career progression development
succession replacement successor
goal objective target
aim objective purpose
mission purpose vision
value principle
idea suggestion proposal
brainstorm workshop
draft version preliminary
edit revise amend
proofread review check
final_version release approved
sum amount total
count number tally
share percentage portion proportion
half fifty_percent
twice double
average_size mean
most_common mode frequent
middle median
spread distribution variance
trend direction development
forecast prediction projection
predict forecast estimate
pattern trend
cause_effect causal
link_between correlation relationship
random sample chance
sure certain confidence
chart graph plot visualisation
map geographic location
colour color
round rounding
decimal precision
whole_number integer
text string
yes_no boolean flag
date_format format
empty_value null missing
row record entry
column field attribute
table_join relationship
copy_data replicate extract
load_data import ingest
clean_data cleansing quality
move_data migration transfer
hide_data masking redaction
delete_data erasure purge
old_records archive historical
every_hour hourly
every_day daily
every_month monthly
every_year annual yearly
twice_week semiweekly
fortnight two_weeks biweekly
half_year semi_annual
three_months quarter
weekday working_day business_day
midnight end_of_day cutoff
morning am early
afternoon pm
summer holiday season
daylight dst clock_change
leap_year calendar
clock time
age_of_data freshness recency
minute time
soon upcoming imminent
forever permanent indefinite
for_now temporary interim
one_off single non_recurring
monthly_fee subscription recurring
yearly_fee annual
notice period advance
short_notice urgent last_minute
urgent priority emergency expedite
important critical priority
minor low_severity trivial
big_problem major incident critical
small_problem minor issue
near_miss incident safety
danger_money hazard allowance
protect safeguard security
gloves protective ppe
poison toxic hazardous
burn fire heat
explode explosion
electric electrical
shock electrocution
asbestos hazardous
dust particle
ear_protection hearing noise
lift_heavy manual_handling lifting
alone lone_worker
`
