package execution_test

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/execution"
)

func TestValuesAsJSON(t *testing.T) {
	for _, test := range []struct {
		value execution.Value
		want  string
	}{
		{execution.Value{}, "null"},
		{execution.Value{Kind: execution.String}, `""`},
		{execution.Value{Kind: execution.Bool, Text: "t"}, "true"},
		{execution.Value{Kind: execution.Bool, Text: "f"}, "false"},
		{execution.Value{Kind: execution.String, Text: "a\"\\\n\x00\x1f<é𝄞>\u2028"}, "\"a\\\"\\\\\\n\\u0000\\u001f<é𝄞>\u2028\""},
		{execution.IntegerValue("9007199254740992"), "9007199254740992"},
		{execution.IntegerValue("-9007199254740992"), "-9007199254740992"},
		{execution.IntegerValue("9007199254740993"), `"9007199254740993"`},
		{execution.IntegerValue("18446744073709551615"), `"18446744073709551615"`},
		{execution.IntegerValue("007"), `"007"`},
		{execution.IntegerValue("+1"), `"+1"`},
		{execution.FloatValue("0.1"), "0.1"},
		{execution.FloatValue("1e+20"), "1e+20"},
		{execution.FloatValue("-0"), "-0"},
		{execution.FloatValue("NaN"), `"NaN"`},
		{execution.FloatValue("Infinity"), `"Infinity"`},
		{execution.FloatValue("1e999"), `"1e999"`},
		{execution.FloatValue(".5"), `".5"`},
		{execution.FloatValue("01"), `"01"`},
		{execution.FloatValue("0x10"), `"0x10"`},
		{execution.FloatValue("1_0"), `"1_0"`},
		{execution.FloatValue(""), `""`},
		{execution.FloatValue("1."), `"1."`},
		{execution.Value{Kind: execution.String, Text: execution.HexText([]byte{0, 0xff})}, `"\\x00ff"`},
	} {
		if got := string(test.value.AppendJSON(nil)); got != test.want {
			t.Errorf("%+v = %s, want %s", test.value, got, test.want)
		}
	}
}

func TestEveryValueIsValidJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		var back string
		if err := json.Unmarshal(execution.Value{Kind: execution.String, Text: text}.AppendJSON(nil), &back); err != nil || back != strings.ToValidUTF8(text, "\ufffd") {
			t.Fatalf("%q became %q: %v", text, back, err)
		}
		for _, v := range []execution.Value{execution.IntegerValue(text), execution.FloatValue(text)} {
			if !json.Valid(v.AppendJSON(nil)) {
				t.Fatalf("%+v is not JSON", v)
			}
		}
		number := rapid.StringMatching(`-?[0-9]{1,25}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?`).Draw(t, "number")
		integer, _ := new(big.Int).SetString(number, 10)
		exact := integer != nil && integer.String() == number && integer.CmpAbs(big.NewInt(1<<53)) <= 0
		if v := execution.IntegerValue(number); (v.Kind == execution.Number) != exact || v.Text != number {
			t.Fatalf("%s became %+v, want a number: %t", number, v, exact)
		}
		if v := execution.FloatValue(number); v.Kind == execution.Number {
			near, _, err := big.ParseFloat(v.Text, 10, 4000, big.ToNearestEven)
			read, readErr := strconv.ParseFloat(v.Text, 64)
			if want, _ := near.Float64(); err != nil || readErr != nil || want != read || math.IsInf(read, 0) || !json.Valid([]byte(v.Text)) {
				t.Fatalf("%s is a number that is read as %v", v.Text, read)
			}
		}
		n := rapid.Int64().Draw(t, "integer")
		if v := execution.IntegerValue(strconv.FormatInt(n, 10)); v.Kind == execution.Number && int64(float64(n)) != n {
			t.Fatalf("%d is a number that a float cannot hold", n)
		}
		f := rapid.Float64().Draw(t, "float")
		if v := execution.FloatValue(strconv.FormatFloat(f, 'g', -1, 64)); v.Kind == execution.Number {
			if back, err := strconv.ParseFloat(v.Text, 64); err != nil || math.Float64bits(back) != math.Float64bits(f) {
				t.Fatalf("%v came back as %v", f, back)
			}
		}
	})
}
