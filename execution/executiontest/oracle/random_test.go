package oracle_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"
)

// pieces are the parts of random texts: characters that quoting, arrays, rows,
// JSON, XML, terminals and encodings treat as special.
var pieces = []string{
	" ", "a", "Z", "0", "9", `"`, `""`, "'", "''", `\`, `\\`, "{", "}", "(", ")", "[", "]", "<", ">", ",", ";", ":", "=", "-", "/*", "--", "&", "|", "!", "%s", "$1", "@", "*",
	"\t", "\n", "\r", "\r\n", "\b", "\f", "\v", "\x01", "\x1b[0m", "\x1f", "\x7f", "\u0080", "\u00a0", "é", "e\u0301", "ß", "Ω", "世界", "אב", "😀", "👩\u200d💻",
	"\u200b", "\u200f", "\u202e", "\u2028", "\u2029", "\ufeff", "\ufffd", "\uffff", "\U0010ffff", "NULL", "null", "true", "NaN", `\N`, `\x`, `\x00`, `\u0041`, "\u2400", "</script>", "1e5", "{}", "[]", "()",
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(8) {
		b.WriteString(pick(r, pieces...))
	}
	if r.IntN(60) == 0 {
		return strings.Repeat(b.String(), 1+r.IntN(200))
	}
	return b.String()
}

// randomWord returns a word that is not empty and not longer than a lexeme may
// be.
func randomWord(r *rand.Rand) string {
	if s := randomText(r); s != "" && len(s) < 2000 {
		return s
	}
	return "w"
}

func digits(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('0' + r.IntN(10))
	}
	return string(b)
}

func sign(r *rand.Rand) string { return pick(r, "", "-") }

// randomInteger returns an integer of at most that many bits. Half of them are
// near powers of two.
func randomInteger(r *rand.Rand, bits int) string {
	n := int64(r.Uint64()) >> (64 - bits) >> r.IntN(bits)
	if r.IntN(2) == 0 {
		n = int64(1)<<r.IntN(bits-1) + int64(r.IntN(3)) - 1
		if r.IntN(2) == 0 {
			n = -n
		}
	}
	lowest := int64(-1) << (bits - 1)
	return strconv.FormatInt(max(min(n, -(lowest+1)), lowest), 10)
}

func randomUnsigned(r *rand.Rand, bits int) string {
	return strconv.FormatUint(r.Uint64()>>(64-bits)>>r.IntN(bits), 10)
}

func randomFloat(r *rand.Rand, bits int) string {
	f := math.Float64frombits(r.Uint64())
	switch {
	case bits == 32:
		f = float64(math.Float32frombits(r.Uint32()))
	case r.IntN(3) == 0:
		f = float64(r.IntN(2_000_000)-1_000_000) / pick(r, 1.0, 10, 100, 8, 3)
	}
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return strconv.FormatFloat(f, 'g', -1, bits)
}

// randomFinite returns a float whose squares and products do not overflow.
func randomFinite(r *rand.Rand) string {
	return strconv.FormatFloat((r.Float64()-0.5)*math.Pow(10, float64(r.IntN(60)-20)), 'g', 1+r.IntN(17), 64)
}

func randomNumeric(r *rand.Rand) string {
	long := pick(r, 6, 20, 40, 300)
	s := sign(r) + digits(r, 1+r.IntN(long))
	if r.IntN(3) > 0 {
		s += "." + digits(r, 1+r.IntN(long))
	}
	if r.IntN(6) == 0 {
		s += "e" + strconv.Itoa(r.IntN(400)-200)
	}
	return s
}

func randomDay(r *rand.Rand, last int) string {
	switch r.IntN(6) {
	case 0:
		return fmt.Sprintf("%04d-%02d-%02d BC", 1+r.IntN(4710), 1+r.IntN(12), 1+r.IntN(28))
	case 1:
		return fmt.Sprintf("%04d-%02d-%02d", 1+r.IntN(last-1), 1+r.IntN(12), 1+r.IntN(28))
	default:
		return fmt.Sprintf("%04d-%02d-%02d", 1+r.IntN(9999), 1+r.IntN(12), 1+r.IntN(28))
	}
}

func randomClock(r *rand.Rand) string {
	s := fmt.Sprintf("%02d:%02d:%02d", r.IntN(24), r.IntN(60), r.IntN(61))
	if r.IntN(2) == 0 {
		s += "." + digits(r, 1+r.IntN(6))
	}
	return s
}

func randomOffset(r *rand.Rand) string {
	s := fmt.Sprintf("%s%02d", pick(r, "+", "-"), r.IntN(16))
	if r.IntN(2) == 0 {
		s += fmt.Sprintf(":%02d", r.IntN(60))
		if r.IntN(2) == 0 {
			s += fmt.Sprintf(":%02d", r.IntN(60))
		}
	}
	return s
}

// randomMoment returns a timestamp, with suffix (such as an offset) between the
// time and BC.
func randomMoment(r *rand.Rand, suffix string) string {
	day, bc := strings.CutSuffix(randomDay(r, 294_000), " BC")
	s := day + " " + randomClock(r) + suffix
	if bc {
		s += " BC"
	}
	return s
}

func randomInterval(r *rand.Rand) string {
	var parts []string
	if r.IntN(3) > 0 {
		parts = append(parts, sign(r)+strconv.Itoa(r.IntN(1<<pick(r, 4, 14, 31)))+" mons")
	}
	if r.IntN(3) > 0 {
		parts = append(parts, sign(r)+strconv.Itoa(r.IntN(1<<pick(r, 4, 14, 31)))+" days")
	}
	if r.IntN(3) > 0 || parts == nil {
		parts = append(parts, fmt.Sprintf("%s%02d:%02d:%02d.%s", sign(r), r.IntN(1<<pick(r, 3, 10, 30)), r.IntN(60), r.IntN(60), digits(r, 6)))
	}
	return strings.Join(parts, " ")
}

func randomHex(r *rand.Rand, most int) string {
	b := make([]byte, r.IntN(most+1))
	for i := range b {
		b[i] = byte(r.IntN(256))
	}
	return hex.EncodeToString(b)
}

func randomBits(r *rand.Rand, least, most int) string {
	b := make([]byte, least+r.IntN(most-least+1))
	for i := range b {
		b[i] = byte('0' + r.IntN(2))
	}
	return string(b)
}

func randomAddress(r *rand.Rand, network bool) string {
	a := netip.AddrFrom4([4]byte{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())})
	if r.IntN(2) == 0 {
		var b [16]byte
		for i := range b {
			b[i] = byte(r.Uint32()) * byte(r.IntN(2))
		}
		a = netip.AddrFrom16(b)
		if a.Is4In6() { // the server prints these in a form of its own, and reads that form
			return "::ffff:" + netip.AddrFrom4(a.Unmap().As4()).String()
		}
	}
	p := netip.PrefixFrom(a, r.IntN(a.BitLen()+1))
	switch {
	case network:
		return p.Masked().String()
	case r.IntN(2) == 0:
		return a.String()
	default:
		return p.String()
	}
}

func randomMAC(r *rand.Rand, n int) string {
	b := make([]string, n)
	for i := range b {
		b[i] = fmt.Sprintf("%02x", r.IntN(256))
	}
	return strings.Join(b, ":")
}

// randomJSON returns a document with spaces and repeated keys. For jsonb it
// contains no NUL and no half of a surrogate pair, and its exponents are
// bounded.
func randomJSON(r *rand.Rand, depth int, binary bool) string {
	space := func() string { return pick(r, "", "", "", " ", "\n\t") }
	switch n := r.IntN(8); {
	case depth > 0 && n < 3:
		var b strings.Builder
		b.WriteString("{" + space())
		for i := range r.IntN(5) {
			if i > 0 {
				b.WriteString("," + space())
			}
			key := pick(r, `"a"`, `"b"`, `""`, randomJSONString(r, binary))
			b.WriteString(key + space() + ":" + space() + randomJSON(r, depth-1, binary))
		}
		return b.String() + space() + "}"
	case depth > 0 && n < 5:
		items := make([]string, r.IntN(5))
		for i := range items {
			items[i] = space() + randomJSON(r, depth-1, binary)
		}
		return "[" + strings.Join(items, ",") + space() + "]"
	case n == 5:
		return pick(r, "null", "true", "false")
	case n == 6:
		return randomJSONString(r, binary)
	default:
		s := sign(r) + pick(r, "0", "1"+digits(r, r.IntN(30)))
		if r.IntN(2) == 0 {
			s += "." + digits(r, 1+r.IntN(20))
		}
		if r.IntN(3) == 0 {
			s += pick(r, "e", "E", "e+", "E-") + digits(r, 1+r.IntN(2))
		}
		return s
	}
}

func randomJSONString(r *rand.Rand, binary bool) string {
	var b strings.Builder
	for range r.IntN(5) {
		switch p := pick(r, pieces...); {
		case strings.ContainsAny(p, "\"\\"):
			b.WriteString(pick(r, `\"`, `\\`, `\/`, `\n`, `\u00e9`, `\ud83d\ude00`))
		case !binary && r.IntN(6) == 0:
			b.WriteString(pick(r, `\u0000`, `\ud800`))
		default:
			for _, c := range p {
				if c < ' ' {
					fmt.Fprintf(&b, `\u%04X`, c)
				} else {
					b.WriteRune(c)
				}
			}
		}
	}
	return `"` + b.String() + `"`
}
