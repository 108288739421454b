package relate_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/scan/relate"
	"github.com/ktxhq/ktx/research/scan/relate/relatetest"
)

// TestOnlyValuesTell lists references that names do not tell of, or not enough. If the
// values fit, a person has to look at them. If they do not, nobody hears of them.
func TestOnlyValuesTell(t *testing.T) {
	t.Parallel()
	day := func(i int) string { return fmt.Sprintf("2026-01-%02d", 1+i) }
	number := func(i int) string { return fmt.Sprint(7000 + i) }
	soil := func(i int) string { return fmt.Sprintf("soil %c", 'a'+i) }
	for _, c := range []struct {
		name, tables, want string
		// value returns the values of a column.
		value map[string]func(i int) string
	}{
		{
			"a day of a calendar", "calendar(calendar_day* date, week); visits(id*, seen date)", "visits.seen > calendar.calendar_day",
			map[string]func(int) string{"calendar_day": day, "seen": func(i int) string { return day(i % 12) }},
		},
		{
			"a text that is unique in one table", "soils(no*, soil_kind text); fields(id*, soil_kind text)", "fields.soil_kind > soils.soil_kind",
			map[string]func(int) string{"soils.soil_kind": soil, "fields.soil_kind": func(i int) string { return soil(i % 9) }},
		},
		{
			"numbers that are kept as text", "pilot(pilot_id*, age); races(id*, winning_pilot text)", "races.winning_pilot > pilot.pilot_id",
			map[string]func(int) string{"pilot_id": number, "winning_pilot": func(i int) string { return number(i % 11) }},
		},
		{
			"a member of a composite key", "humans(id*, age); likes(fan_id*, idol_id*)", "likes.idol_id > humans.id",
			map[string]func(int) string{"humans.id": number, "idol_id": func(i int) string { return number(i % 12) }, "fan_id": func(i int) string { return fmt.Sprint(10 + i) }},
		},
		{
			"a key of a subtype", "sights(sight_id*, name text); museums(museum_id*, open text)", "museums.museum_id > sights.sight_id",
			map[string]func(int) string{"sight_id": func(i int) string { return fmt.Sprint(7000 + 13*i) }, "museum_id": func(i int) string { return fmt.Sprint(7000 + 26*(i%10)) }},
		},
		{
			"numbers with a name that says nothing", "profiles(uid*, name text); follows(f1*, f2*)", "follows.f2 > profiles.uid",
			map[string]func(int) string{"uid": number, "f1": number, "f2": func(i int) string { return number(i % 6) }},
		},
		{
			"a person of a profession", "physician(employee_id*, name text); wards(ward_id*, head)", "wards.head > physician.employee_id",
			map[string]func(int) string{"employee_id": number, "head": func(i int) string { return number(i % 5) }},
		},
		{
			"a role before a key whose words are a key word together", "useracct(u_id*, age); trust(source_u_id, weight)", "trust.source_u_id > useracct.u_id",
			map[string]func(int) string{"u_id": number, "source_u_id": func(i int) string { return number(i % 8) }},
		},
		{
			"a role in one word with a table", "flughäfen(code*, land text); flüge(nr*, zielflughafen)", "flüge.zielflughafen > flughäfen.code",
			map[string]func(int) string{"code": number, "zielflughafen": func(i int) string { return number(i % 8) }},
		},
		{
			"a role in one word with a key", "osoitteet(osoitetunnus*, katu text); laskut(laskutunnus*, toimitusosoitetunnus)", "laskut.toimitusosoitetunnus > osoitteet.osoitetunnus",
			map[string]func(int) string{"osoitetunnus": number, "toimitusosoitetunnus": func(i int) string { return number(i % 8) }},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fitting := sample(tables(t, c.tables), c.value)
			got := find(t, relate.Input{Tables: fitting.Tables, Profile: fitting.Profile()}, &relatetest.Memory{Sample: fitting})
			if !slices.Contains(arrows(slices.Concat(got.Accepted, got.Review)), c.want) {
				t.Errorf("the values fit, but got\n%s", lists(got))
			}
			// The keys of the other table are others now.
			for ref, rows := range fitting.Rows {
				for _, row := range rows {
					for i := range row {
						row[i] += "0" + ref.Name
					}
				}
			}
			got = find(t, relate.Input{Tables: fitting.Tables, Profile: fitting.Profile()}, &relatetest.Memory{Sample: fitting})
			if slices.Contains(arrows(slices.Concat(got.Accepted, got.Review)), c.want) {
				t.Errorf("no value fits, but got\n%s", lists(got))
			}
		})
	}
}

// TestSmallNumbersTellNothing has columns whose values are in the key of another table
// because both count from 1, or because two codes are formed alike.
func TestSmallNumbersTellNothing(t *testing.T) {
	t.Parallel()
	count := func(n int) func(int) string { return func(i int) string { return fmt.Sprint(1 + i%n) } }
	code := func(n int) func(int) string { return func(i int) string { return fmt.Sprintf("C%03d", 1+i%n) } }
	for _, c := range []struct {
		name, tables string
		value        map[string]func(i int) string
	}{
		{
			"an attribute", "shops(shop_id*, area); lanes(lane_id*, floors)",
			map[string]func(int) string{"shop_id": count(20), "lane_id": func(i int) string { return fmt.Sprint(500 + i) }, "floors": count(6)},
		},
		{
			"a key of another thing", "shops(shop_id*, area); lanes(lane_id*, width)",
			map[string]func(int) string{"shop_id": count(20), "lane_id": count(20), "area": func(i int) string { return fmt.Sprint(90 + i) }, "width": func(i int) string { return fmt.Sprint(600 + i) }},
		},
		{
			"codes formed alike", "shops(shop_code* text, area text); lanes(lane_code* text, width text)",
			map[string]func(int) string{"shop_code": code(20), "lane_code": code(20), "area": func(i int) string { return fmt.Sprint("a", i) }, "width": func(i int) string { return fmt.Sprint("w", i) }},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := sample(tables(t, c.tables), c.value)
			got := find(t, relate.Input{Tables: s.Tables, Profile: s.Profile()}, &relatetest.Memory{Sample: s})
			if len(got.Accepted)+len(got.Review) > 0 {
				t.Errorf("the values say nothing, but got\n%s", lists(got))
			}
		})
	}
}

// TestAPersonChoosesAmongTargets has two tables of people whose keys fit a column equally.
func TestAPersonChoosesAmongTargets(t *testing.T) {
	t.Parallel()
	s := sample(tables(t, "parties(party_id*, name text); individuals(individual_id*, party_id); services(service_id*, customer_id)"), map[string]func(int) string{
		"customer_id": func(i int) string { return fmt.Sprint(i % 12) },
	})
	got := find(t, relate.Input{Tables: s.Tables, Profile: s.Profile()}, &relatetest.Memory{Sample: s})
	for _, want := range []string{"services.customer_id > individuals.individual_id", "services.customer_id > parties.party_id"} {
		if !slices.Contains(arrows(got.Review), want) {
			t.Errorf("%s is not to be reviewed in\n%s", want, lists(got))
		}
	}
}

// TestCertainValues accepts a reference by its values where they cannot be an accident.
func TestCertainValues(t *testing.T) {
	t.Parallel()
	sparse := func(i int) string { return fmt.Sprint(1025 + 37*i) }
	s := sample(tables(t, "humans(hid*, name text); likes(fan_id*, idol_id*)"), map[string]func(int) string{
		"hid": sparse, "fan_id": func(i int) string { return sparse(i % 9) }, "idol_id": func(i int) string { return sparse(19 - i) },
	})
	got := find(t, relate.Input{Tables: s.Tables, Profile: s.Profile()}, &relatetest.Memory{Sample: s})
	if want := []string{"likes.fan_id > humans.hid", "likes.idol_id > humans.hid"}; !equal(arrows(got.Accepted), want) {
		t.Errorf("want %q accepted, got\n%s", want, lists(got))
	}
}

// sample gives each table twenty rows. A column without values counts the rows.
func sample(list []*catalog.Table, value map[string]func(i int) string) *relatetest.Sample {
	s := &relatetest.Sample{Database: relatetest.Database{Tables: list}, Rows: map[catalog.Ref][][]string{}}
	for _, table := range list {
		for i := range 20 {
			var row []string
			for k := range table.Columns {
				name := table.Columns[k].Name
				v := value[table.Name+"."+name]
				if v == nil {
					v = value[name]
				}
				if v == nil {
					v = func(i int) string { return fmt.Sprint(i) }
				}
				row = append(row, v(i))
			}
			s.Rows[table.Ref()] = append(s.Rows[table.Ref()], row)
		}
	}
	return s
}
