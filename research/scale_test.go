package research_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
)

// A scale is a generator of scans and questions of any size. Equal seeds give equal
// scans and questions.
type scale struct {
	random *rand.Rand
	used   map[string]bool // names of tables of the connection that is being made
}

func newScale(seed uint64) *scale {
	return &scale{random: rand.New(rand.NewPCG(seed, 13)), used: map[string]bool{}}
}

// The words of names. The first of each list are the most frequent.
var (
	scaleEntities = strings.Fields(`customer order product invoice payment account item user employee transaction contract shipment supplier store
		price address session campaign ticket contact sales region inventory policy claim subscription delivery warehouse department
		budget ledger journal opportunity lead quote return refund discount coupon loyalty vendor purchase receipt material plant batch
		machine sensor reading meter tariff outage patient visit diagnosis procedure prescription provider hospital course student
		enrollment grade teacher booking flight passenger route vehicle driver trip fare hotel room guest loan deposit card branch
		portfolio position security trade counterparty exposure rating covenant tenant lease property device event page click impression
		channel segment audience experiment variant survey answer question document attachment message thread agent shift schedule
		timesheet payroll benefit candidate interview vacancy project task milestone risk issue asset license version release build
		deployment incident alert service endpoint request job queue partner territory forecast target quota commission tax currency`)
	scaleAttributes = strings.Fields(`id name code status type created_at updated_at amount date description quantity is_active total
		number category start_date end_date currency email country city rate percent notes source_system external_id version
		owner_id parent_id net_amount gross_amount unit_price discount_pct phone postal_code valid_from valid_to deleted_at
		batch_id row_hash loaded_at priority channel language time_zone latitude longitude weight height length score rank level
		reason comment first_name last_name birth_date gender title segment region_code tax_rate tax_amt due_date paid_at closed_at
		opened_at expected_qty actual_qty unit_of_measure min_value max_value avg_value std_dev sample_count error_code retry_count
		duration_ms url file_path checksum mime_type size_bytes ip_address user_agent referrer session_key token_hash cost_center
		profit_center fiscal_year fiscal_period posting_date document_no line_no plant_code storage_bin lot_no serial_no expiry_dt
		approved_by approved_at rejected_reason sla_hours first_response_min resolution_code nps_score churn_flag ltv_usd mrr arr`)
	scaleLayers   = strings.Fields("stg dim fct raw int agg rpt hist src map ref tmp bak mv snap")
	scaleSystems  = strings.Fields("crm erp billing web pos hr finance logistics marketing support iot dwh mdm legacy sandbox")
	scalePhrases  = strings.Fields("per by of for with from in")
	scaleSentence = strings.Split(`The %s of the %s|%s as the source system sends it, see %s|Identifies the %[2]s|When the %[2]s was changed last, in UTC|Gross %s without tax, in the currency of the %s|Deprecated, use the %s of %s instead`, "|")
)

// pick returns a word, those at the front of the list more often.
func (s *scale) pick(words []string) string {
	r := s.random.Float64()
	return words[int(float64(len(words))*r*r)]
}

// one reports true with a probability.
func (s *scale) one(probability float64) bool { return s.random.Float64() < probability }

// tableName returns a name that the connection does not have yet.
func (s *scale) tableName() string {
	for {
		schema := s.pick(scaleSystems)
		if s.one(0.3) {
			schema += "_" + s.pick(scaleLayers)
		}
		name := s.pick(scaleEntities)
		if s.one(0.7) {
			name += "_" + s.pick(scaleEntities)
		}
		if s.one(0.4) {
			name = s.pick(scaleLayers) + "_" + name
		}
		if s.one(0.15) {
			name += "_" + s.pick(scaleAttributes)
		}
		if s.one(0.1) {
			name = strings.ReplaceAll(strings.Title(strings.ReplaceAll(name, "_", " ")), " ", "") //nolint:staticcheck // the words are ASCII
		}
		full := schema + "." + name
		for n := 2; s.used[full] && n < 6; n++ {
			full = fmt.Sprintf("%s.%s_v%d", schema, name, n)
		}
		if !s.used[full] {
			s.used[full] = true
			return full
		}
	}
}

// connection returns a scan of at least so many columns.
func (s *scale) connection(columns int) catalogtest.Scan {
	clear(s.used)
	var scan catalogtest.Scan
	var keys []string // tables with a column id
	for n := 0; n < columns; {
		table := catalogtest.Table(s.tableName())
		if s.one(0.6) {
			comment := s.sentence()
			table.Comment = &comment
		}
		if s.one(0.8) {
			s.column(&table, "id", "integer key")
		}
		for wanted := 5 + s.random.IntN(40); len(table.Columns) < wanted; {
			if len(keys) > 0 && s.one(0.08) {
				to := s.pick(keys)
				_, bare, _ := strings.Cut(to, ".")
				if name := strings.ToLower(bare) + "_id"; s.column(&table, name, "integer null") {
					table.ForeignKeys = append(table.ForeignKeys, catalogtest.Key(name, to, "id", fmt.Sprintf("fk_%d", len(table.ForeignKeys))))
				}
				continue
			}
			name := s.pick(scaleAttributes)
			if s.one(0.5) {
				name = s.pick(scaleEntities) + "_" + name
			}
			if s.one(0.02) {
				name = fmt.Sprintf("custom_field_%d", s.random.IntN(400))
			}
			s.column(&table, name, []string{"text null", "integer", "numeric(12,2) null", "timestamp", "varchar(255) null", "boolean"}[s.random.IntN(6)])
		}
		name := text(table.DB) + "." + table.Name
		if len(table.Columns) > 0 && table.Columns[0].Name == "id" {
			keys = append(keys, name)
		}
		scan.Tables = append(scan.Tables, table)
		n += len(table.Columns)
		if s.one(0.01) { // one table for each year
			for year := 2015; year <= 2026 && n < columns; year++ {
				part := table
				part.Name = fmt.Sprintf("%s_%d", table.Name, year)
				if full := text(table.DB) + "." + part.Name; !s.used[full] {
					s.used[full] = true
					scan.Tables = append(scan.Tables, part)
					n += len(part.Columns)
				}
			}
		}
	}
	return scan
}

// column adds a column to a table, and reports whether the name was free.
func (s *scale) column(t *catalog.Table, name, definition string) bool {
	if slices.ContainsFunc(t.Columns, func(c catalog.Column) bool { return c.Name == name }) {
		return false
	}
	definition = name + " " + definition
	if s.one(0.4) {
		definition += " -- " + s.sentence()
	}
	t.Columns = append(t.Columns, catalogtest.Table("x", definition).Columns...)
	return true
}

func (s *scale) sentence() string {
	return fmt.Sprintf(scaleSentence[s.random.IntN(len(scaleSentence))]+".", strings.ReplaceAll(s.pick(scaleAttributes), "_", " "), s.pick(scaleEntities))
}

// question returns a question: words of names within a sentence, a name, or a typing
// error.
func (s *scale) question() string {
	switch s.random.IntN(10) {
	case 0:
		return s.pick(scaleEntities)
	case 1:
		return s.pick(scaleEntities) + "_" + s.pick(scaleAttributes)
	case 2:
		word := s.pick(scaleEntities)
		at := 1 + s.random.IntN(len(word)-1)
		return "average " + s.pick(scaleAttributes) + " of each " + word[:at] + word[at-1:]
	}
	words := []string{"which", s.pick(scaleEntities)}
	for range 1 + s.random.IntN(4) {
		from := scaleEntities
		if s.one(0.5) {
			from = scaleAttributes
		}
		words = append(words, s.pick(scalePhrases), strings.ReplaceAll(s.pick(from), "_", " "))
	}
	return strings.Join(words, " ")
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// scaleConnections is how many connections writeScale makes. The first has half of the
// columns.
const scaleConnections = 41

func scaleConnection(i int) string { return fmt.Sprintf("connection_%02d", i) }

// writeScale writes a project of so many columns: one connection with half of them, and
// forty small ones. Its files are older than what may still change.
func writeScale(tb testing.TB, dir string, columns int) {
	tb.Helper()
	if err := os.Mkdir(filepath.Join(dir, ".ktx"), 0o700); err != nil {
		tb.Fatal(err)
	}
	for i := range scaleConnections {
		n := columns / 2 / (scaleConnections - 1)
		if i == 0 {
			n = columns / 2
		}
		catalogtest.Write(tb, dir, scaleConnection(i), newScale(uint64(i)).connection(n))
	}
	old := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(filepath.Join(dir, "raw-sources"), func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, old, old)
	})
	if err != nil {
		tb.Fatal(err)
	}
}
