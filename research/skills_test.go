package research_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tiktoken-go/tokenizer"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/skills"
	"github.com/ktxhq/ktx/research/skills/litestore"
)

// skillText is a SKILL.md.
func skillText(name, description, body string, more ...string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n" + strings.Join(more, "") + "---\n\n" + body
}

// skillsIn returns all stores over the project in dir, with the skills in its folder skills.
func skillsIn(t *testing.T, dir string) (research.Stores, skills.State) {
	t.Helper()
	stores := storesIn(t, dir)
	root := catalogtest.Open(t, dir)
	state := litestore.New(filepath.Join(dir, ".ktx", "skills", "state.db"))
	t.Cleanup(func() { _ = state.Close() })
	stores.Skills = skills.NewStore(skills.Options{
		Catalog: skills.NewCatalog(skills.CatalogOptions{
			Sources:  []skills.Source{{Name: "skills", Root: root, Folder: "skills", Optional: true}},
			Analyzer: rank.NewAnalyzer(nil), Now: time.Now, Cache: root,
		}),
		State: state, Categories: map[string]string{"finance": "Ask for the fiscal year."},
	})
	return stores, state
}

// connectSkills starts a session with the skills of a project.
func connectSkills(t *testing.T, dir string) (*client, skills.State) {
	t.Helper()
	log := &audittest.Log{}
	gateway, err := execution.NewGateway(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	stores, state := skillsIn(t, dir)
	c := serveWith(t, gateway, stores)
	c.log = log
	c.shakeHands()
	return c, state
}

func TestSkillTools(t *testing.T) {
	dir := t.TempDir()
	page(t, dir, "skills/close-books/SKILL.md", skillText("close-books", "Closes the books of a month. Use it at the end of a month.", "# Close\n\nReconcile the ledger.\n",
		"license: MIT\nallowed-tools: sql_execution\nmetadata:\n  category: finance\n  author: Ada\n  tags: ledger, month\n"))
	page(t, dir, "skills/close-books/references/rates.md", "# Rates\n")
	page(t, dir, "skills/close-books/logo.png", "\x89PNG\x00")
	page(t, dir, "skills/close-quarter/SKILL.md", skillText("close-quarter", "Closes the books of a quarter.", "Close three months.\n", "metadata: {category: finance, forked-from: close-books}\n"))
	page(t, dir, "skills/review-code/SKILL.md", skillText("review-code", "Reviews a change of code.", "Read the diff.\n"))
	page(t, dir, "skills/secret-draft/SKILL.md", skillText("secret-draft", "Closes the books secretly.", "Ledger.\n", "metadata: {status: draft, category: hidden, forked-from: close-books}\n"))
	page(t, dir, "skills/broken/SKILL.md", "---\nname: broken\n---\nledger\n")
	c, state := connectSkills(t, dir)

	c.wants("search_skills", `{}`, `{"searchMethod":"text","count":3,"skills":[`+
		`{"name":"close-books","description":"Closes the books of a month. Use it at the end of a month.","category":"finance","tier":null,"rating":null,"uses":0},`+
		`{"name":"close-quarter","description":"Closes the books of a quarter.","category":"finance","tier":null,"rating":null,"uses":0},`+
		`{"name":"review-code","description":"Reviews a change of code.","category":null,"tier":null,"rating":null,"uses":0}],"omitted":0}`)
	c.wants("recommend_skills", `{"query":"reconcile the ledger"}`, `{"query":"reconcile the ledger","searchMethod":"text","count":1,"skills":[`+
		`{"name":"close-books","description":"Closes the books of a month. Use it at the end of a month.","category":"finance","tier":null,"uses":0,"why":"tags: ledger; body: reconcile"}]}`)
	c.wants("recommend_skills", `{"query":"xyzzyq"}`, `{"query":"xyzzyq","searchMethod":"text","count":0,"skills":[]}`)

	// Uses and ratings make the quality.
	for range 10 {
		if r := c.tool("guide_skill", `{"name":"close-books"}`); r.IsError {
			t.Fatal(r.text())
		}
	}
	for i, stars := range []int{4, 5} {
		err := state.Rate(t.Context(), skills.Rating{Skill: "close-books", Rater: fmt.Sprint("r", i), Stars: stars, Comment: "Good.", Time: time.Unix(1_800_000_000+int64(i), 0)})
		if err != nil {
			t.Fatal(err)
		}
	}
	c.wants("search_skills", `{"tier":"gold","limit":1}`, `{"searchMethod":"text","count":1,"skills":[`+
		`{"name":"close-books","description":"Closes the books of a month. Use it at the end of a month.","category":"finance","tier":"gold","rating":"4.5","uses":10}],"omitted":0}`)
	c.wants("search_skills", `{"tier":"silver"}`, `{"searchMethod":"text","count":0,"skills":[],"omitted":0}`)

	r := c.tool("describe_skill", `{"name":"close-books"}`)
	validate(t, "describe_skill", r.StructuredContent)
	var d research.DescribeSkill
	if err := json.Unmarshal(r.StructuredContent, &d); err != nil || r.IsError {
		t.Fatalf("%v %s", err, r.text())
	}
	if *d.Rating != "4.5" || d.Ratings != [5]int{0, 0, 0, 1, 1} || len(d.Reviews) != 2 || d.Reviews[0].By != "r1" || d.Forks != 1 || d.Uses != 10 ||
		len(d.Similar) != 1 || d.Similar[0].Name != "close-quarter" || len(d.Files) != 3 || d.Files[0].Path != "SKILL.md" || d.URI != "skill://close-books/SKILL.md" {
		t.Errorf("%+v", d)
	}
	r = c.tool("guide_skill", `{"name":"close-books"}`)
	validate(t, "guide_skill", r.StructuredContent)
	var g research.GuideSkill
	if err := json.Unmarshal(r.StructuredContent, &g); err != nil {
		t.Fatal(err)
	}
	if g.Content != "\n# Close\n\nReconcile the ledger.\n" || *g.Guidance != "Ask for the fiscal year." || g.Pages != 1 || strings.Join(g.Files, " ") != "logo.png references/rates.md" || g.Digest != d.Files[0].Digest {
		t.Errorf("%+v", g)
	}
	c.wants("guide_skill", `{"name":"close-books","file":"./references/rates.md"}`,
		`{"name":"close-books","file":"references/rates.md","digest":"`+d.Files[2].Digest+`","page":1,"pages":1,"guidance":null,"content":"# Rates\n","files":[]}`)

	for call, want := range map[string]string{
		`describe_skill {"name":"close-book"}`:                           `not_found: There is no skill "close-book". Nearest: close-books`,
		`guide_skill {"name":"secret-draft"}`:                            `not_found: There is no skill "secret-draft".` + "\n",
		`guide_skill {"name":"broken"}`:                                  `not_found: There is no skill "broken".` + "\n",
		`guide_skill {"name":"../close-books"}`:                          `not_found: There is no skill "../close-books". Nearest: close-books`,
		`guide_skill {"name":"close-books","file":"../../ktx.yaml"}`:     `not_found: The skill close-books has no file "../../ktx.yaml".`,
		`guide_skill {"name":"close-books","file":"reference/rates.md"}`: `not_found: The skill close-books has no file "reference/rates.md". Nearest: references/rates.md, SKILL.md.`,
		`guide_skill {"name":"close-books","file":"logo.png"}`:           `invalid_arguments: logo.png of the skill close-books is not text: 5 bytes, sha256:`,
		`guide_skill {"name":"close-books","page":2}`:                    `invalid_arguments: SKILL.md of close-books has 1 pages; there is no page 2`,
		`search_skills {"tier":"platinum"}`:                              `invalid_arguments: tier: "platinum"`,
		`recommend_skills {}`:                                            `invalid_arguments: query: missing`,
	} {
		name, arguments, _ := strings.Cut(call, " ")
		if r := c.tool(name, arguments); !r.IsError || !strings.HasPrefix(r.text(), want) {
			t.Errorf("%s: %s", call, r.text())
		}
	}
	// Nothing that is not published is in any answer.
	for _, call := range []string{
		`search_skills {"limit":50}`, `search_skills {"query":"secretly ledger"}`, `recommend_skills {"query":"closes the books secretly","limit":20}`, `search_skills {"category":"hidden"}`,
		`describe_skill {"name":"close-books"}`, `describe_skill {"name":"close-quarter"}`, `describe_skill {"name":"secret-drafts"}`, `describe_skill {"name":"brokn"}`,
	} {
		name, arguments, _ := strings.Cut(call, " ")
		text := c.tool(name, arguments).text()
		text = strings.ReplaceAll(strings.ReplaceAll(text, `"secret-drafts"`, ""), `"brokn"`, "")
		if strings.Contains(text, "secret-draft") || strings.Contains(text, "broken") {
			t.Errorf("%s: %s", call, text)
		}
	}
	if len(c.log.Events()) == 0 {
		t.Error("arguments that are not valid are not recorded")
	}
	for _, e := range c.log.Events() {
		if text, err := json.Marshal(e); err != nil || strings.Contains(string(text), "close-books") {
			t.Errorf("the audit log has an event of a skill: %s, %v", text, err)
		}
	}
}

// TestSkillPages: long instructions come in pages, which together are the file.
func TestSkillPages(t *testing.T) {
	dir := t.TempDir()
	body := strings.Repeat("Zażółć gęślą jaźń, a long line of words.\n", 3000) + strings.Repeat("ż", 40_000)
	page(t, dir, "skills/a/SKILL.md", skillText("a", "x", body))
	page(t, dir, "skills/a/more.md", "One\n\u202Etwo\n")
	c, state := connectSkills(t, dir)
	if r := c.tool("guide_skill", `{"name":"a","file":"more.md"}`); !strings.Contains(string(r.Meta["ktx/notes"]), "line 2 of more.md has the control character U+202E") {
		t.Errorf("a file that hides text: %s", r.Meta["ktx/notes"])
	}
	got := ""
	for n := 1; ; n++ {
		r := c.tool("guide_skill", fmt.Sprintf(`{"name":"a","page":%d}`, n))
		var g research.GuideSkill
		if err := json.Unmarshal(r.StructuredContent, &g); err != nil {
			t.Fatalf("%v: %s", err, r.text())
		}
		if got += g.Content; n == g.Pages {
			break
		}
		if !strings.Contains(string(r.Meta["ktx/notes"]), fmt.Sprintf("call again with page %d", n+1)) {
			t.Errorf("page %d: %s", n, r.Meta["ktx/notes"])
		}
	}
	if got != "\n"+body {
		t.Errorf("the pages have %d bytes together, want %d", len(got), len(body)+1)
	}
	counts, err := state.Counts(t.Context(), nil)
	if err != nil || counts["a"].Uses != 1 {
		t.Errorf("%v, %v: reading further pages is no use", counts, err)
	}
}

// TestSkillsWithoutState: a file that cannot be read keeps no skill from an agent.
func TestSkillsWithoutState(t *testing.T) {
	dir := t.TempDir()
	page(t, dir, "skills/a/SKILL.md", skillText("a", "Counts sheep.", "x\n"))
	page(t, dir, ".ktx/skills/state.db", "this is no database, and it is long enough to be read as one: "+strings.Repeat("x", 1000))
	c, _ := connectSkills(t, dir)
	for _, call := range []string{`search_skills {}`, `recommend_skills {"query":"count sheep"}`, `describe_skill {"name":"a"}`, `guide_skill {"name":"a"}`} {
		name, arguments, _ := strings.Cut(call, " ")
		r := c.tool(name, arguments)
		if r.IsError || !strings.Contains(r.text(), `"a"`) || name != "guide_skill" && !strings.Contains(r.text(), "uses and ratings are missing") {
			t.Errorf("%s: %s", call, r.text())
		}
	}
	if !strings.Contains(c.logs.String(), "a use of a skill was not counted") {
		t.Errorf("the log has %s", c.logs)
	}
}

// TestSkillTokens: the four tools together have at most 400 tokens.
func TestSkillTokens(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, name := range []string{"search_skills", "recommend_skills", "describe_skill", "guide_skill"} {
		text, err := os.ReadFile(filepath.Join("schemas", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var tool struct {
			Name, Description string
			InputSchema       json.RawMessage
		}
		if err := json.Unmarshal(text, &tool); err != nil {
			t.Fatal(err)
		}
		var schema bytes.Buffer
		if err := json.Compact(&schema, tool.InputSchema); err != nil {
			t.Fatal(err)
		}
		n, err := codec.Count(tool.Name + tool.Description + schema.String())
		if err != nil {
			t.Fatal(err)
		}
		all += n
	}
	if all > 400 {
		t.Errorf("%d tokens, at most 400", all)
	}
	t.Logf("%d tokens", all)
}

// result sends a request, and returns its result and its error.
func (c *client) result(method, params string) (result json.RawMessage, failure string) {
	c.t.Helper()
	answer := c.call(method, json.RawMessage(params))
	return answer["result"], string(answer["error"])
}

// TestSkillResources: skills/list, skills/get, resources and directories as the extension
// io.modelcontextprotocol/skills has them.
func TestSkillResources(t *testing.T) {
	dir := t.TempDir()
	text := skillText("close-books", "Closes <the> books.", "Reconcile.\n", "metadata: {version: 1.10}\n")
	page(t, dir, "skills/close-books/SKILL.md", text)
	page(t, dir, "skills/close-books/references/a file.md", "# Ą\n")
	page(t, dir, "skills/close-books/references/deep/logo.png", "\x89PNG\x00")
	page(t, dir, "skills/close-books/empty.txt", "")
	page(t, dir, "skills/a-draft/SKILL.md", skillText("a-draft", "x", "x\n", "metadata: {status: draft}\n"))
	c, _ := connectSkills(t, dir)
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	entry := `{"uri":"skill://close-books/SKILL.md","frontmatter":{"name":"close-books","description":"Closes <the> books.","metadata":{"version":1.1}},"resources":[` +
		`{"uri":"skill://close-books/SKILL.md","digest":"` + digest(text) + `","size":` + fmt.Sprint(len(text)) + `},` +
		`{"uri":"skill://close-books/empty.txt","digest":"` + digest("") + `","size":0},` +
		`{"uri":"skill://close-books/references/a%20file.md","digest":"` + digest("# Ą\n") + `","size":5},` +
		`{"uri":"skill://close-books/references/deep/logo.png","digest":"` + digest("\x89PNG\x00") + `","size":5}]}`
	for _, q := range []struct{ method, params, want string }{
		{"skills/list", `{}`, `{"resultType":"complete","ttlMs":0,"cacheScope":"private","skills":[` + entry + `]}`},
		{"skills/get", `{"uri":"skill://close-books/SKILL.md"}`, `{"resultType":"complete","ttlMs":0,"cacheScope":"private","skill":` + entry + `}`},
		{"resources/list", `{}`, `"resources":[{"description":"Closes <the> books.","mimeType":"text/markdown","name":"close-books","size":` + fmt.Sprint(len(text)) + `,"uri":"skill://close-books/SKILL.md"}]}`},
		{"resources/read", `{"uri":"skill://close-books/references/a%20file.md"}`, `"contents":[{"uri":"skill://close-books/references/a%20file.md","mimeType":"text/markdown","text":"# Ą\n"}]}`},
		{"resources/read", `{"uri":"skill://close-books/references/deep/logo.png"}`, `"mimeType":"image/png","blob":"iVBORwA="}]}`},
		{"resources/read", `{"uri":"skill://close-books/empty.txt"}`, `"mimeType":"text/plain","blob":""}]}`},
		{"resources/directory/read", `{"uri":"skill://close-books"}`, `{"resultType":"complete","resources":[` +
			`{"description":"Closes <the> books.","mimeType":"text/markdown","name":"close-books","size":` + fmt.Sprint(len(text)) + `,"uri":"skill://close-books/SKILL.md"},` +
			`{"mimeType":"text/plain","name":"empty.txt","uri":"skill://close-books/empty.txt"},` +
			`{"mimeType":"inode/directory","name":"references","uri":"skill://close-books/references"}]}`},
		{"resources/directory/read", `{"uri":"skill://close-books/references"}`, `{"resultType":"complete","resources":[` +
			`{"mimeType":"text/markdown","name":"a file.md","size":5,"uri":"skill://close-books/references/a%20file.md"},` +
			`{"mimeType":"inode/directory","name":"deep","uri":"skill://close-books/references/deep"}]}`},
	} {
		got, failure := c.result(q.method, q.params)
		if failure != "" || !strings.HasSuffix(string(got), q.want) {
			t.Errorf("%s %s:\n%s%s, want\n%s", q.method, q.params, got, failure, q.want)
		}
	}
	for _, q := range []string{
		`skills/list {"cursor":"x"}`, `resources/list {"cursor":"!"}`, `skills/get {}`, `skills/get {"uri":"skill://none/SKILL.md"}`, `skills/get {"uri":"skill://a-draft/SKILL.md"}`,
		`skills/get {"uri":"skill://close-books"}`, `skills/get {"uri":"skill://close-books/empty.txt"}`, `skills/get {"uri":"http://close-books/SKILL.md"}`,
		`resources/read {"uri":"skill://a-draft/SKILL.md"}`, `resources/read {"uri":"skill://close-books/../a-draft/SKILL.md"}`, `resources/read {"uri":"skill://close-books/%2e%2e/a-draft/SKILL.md"}`,
		`resources/read {"uri":"skill://close-books/references"}`, `resources/read {"uri":"skill://close-books"}`, `resources/read {"uri":"file:///etc/passwd"}`,
		`resources/directory/read {"uri":"skill://close-books/SKILL.md"}`, `resources/directory/read {"uri":"skill://close-books/none"}`, `resources/directory/read {"uri":"skill://close-books/"}`,
		`resources/directory/read {"uri":"skill://a-draft"}`, `resources/directory/read {"uri":"skill://close-books","cursor":"x"}`, `resources/directory/read {}`,
	} {
		method, params, _ := strings.Cut(q, " ")
		if got, failure := c.result(method, params); !strings.Contains(failure, `"code":-32602`) {
			t.Errorf("%s: %s%s", q, got, failure)
		}
	}
}

// TestSkillListPages: the pages of a long list have every skill once.
func TestSkillListPages(t *testing.T) {
	dir := t.TempDir()
	for i := range 450 {
		name := fmt.Sprintf("s%03d", i)
		page(t, dir, "skills/"+name+"/SKILL.md", skillText(name, "x", "x\n"))
	}
	c, _ := connectSkills(t, dir)
	for _, method := range []string{"skills/list", "resources/list"} {
		seen := map[string]bool{}
		cursor, pages := "", 0
		for {
			got, failure := c.result(method, `{"cursor":"`+cursor+`"}`)
			var out struct {
				Skills, Resources []struct{ URI string }
				NextCursor        string
			}
			if err := json.Unmarshal(got, &out); err != nil {
				t.Fatalf("%s: %v %s", method, err, failure)
			}
			for _, k := range append(out.Skills, out.Resources...) {
				if seen[k.URI] {
					t.Errorf("%s: %s is there twice", method, k.URI)
				}
				seen[k.URI] = true
			}
			pages++
			if cursor = out.NextCursor; cursor == "" {
				break
			}
		}
		if len(seen) != 450 || pages != 3 {
			t.Errorf("%s: %d skills on %d pages", method, len(seen), pages)
		}
	}
}
