package research

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/skills"
)

// skillsExtension is the extension of the protocol by which a server serves skills as
// resources (SEP-2640). A client that knows it needs none of the four tools.
const skillsExtension = "io.modelcontextprotocol/skills"

// The limits of one page of a list.
const (
	skillsPage     = 200       // entries
	skillsPageSize = 192 << 10 // bytes, after which no further entry is added
)

// skillCapabilities adds what a server with skills declares.
func skillCapabilities(c *mcp.ServerCapabilities) {
	c.Resources = &mcp.ResourceCapabilities{}
	c.AddExtension(skillsExtension, map[string]any{"directoryRead": true})
}

// cacheable are the members of a result that clients may keep. Files may change at any
// time, and a server may ask for a token, so nobody but the client keeps a result.
type cacheable struct {
	ResultType string `json:"resultType"`
	TTLMs      int    `json:"ttlMs"`
	CacheScope string `json:"cacheScope"`
}

var uncached = cacheable{ResultType: "complete", CacheScope: "private"}

// skillManifest is the entry of a skill: its head, and all of its files.
type skillManifest struct {
	URI         string          `json:"uri"`
	Frontmatter json.RawMessage `json:"frontmatter"`
	Resources   []skillResource `json:"resources"`
}

type skillResource struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

type (
	listSkillsParams struct {
		mcp.ParamsBase
		Cursor string `json:"cursor"`
	}
	listSkillsResult struct {
		mcp.ResultBase
		cacheable
		Skills     []skillManifest `json:"skills"`
		NextCursor string          `json:"nextCursor,omitempty"`
	}
	skillParams struct {
		mcp.ParamsBase
		URI    string `json:"uri"`
		Cursor string `json:"cursor"`
	}
	getSkillResult struct {
		mcp.ResultBase
		cacheable
		Skill skillManifest `json:"skill"`
	}
	directoryResult struct {
		mcp.ResultBase
		ResultType string          `json:"resultType"`
		Resources  []*mcp.Resource `json:"resources"`
		NextCursor string          `json:"nextCursor,omitempty"`
	}
)

// serveSkills adds the methods of the extension to a server.
func (s *Service) serveSkills(server *mcp.Server) error {
	server.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "skill", Title: "File of a skill", URITemplate: "skill://{name}/{+path}",
		Description: "A file of a skill. SKILL.md has its instructions.",
	}, s.readSkillResource)
	server.AddReceivingMiddleware(s.listSkillResources)
	return errors.Join(
		mcp.AddReceivingCustomMethod(server, "skills/list", s.listSkills),
		mcp.AddReceivingCustomMethod(server, "skills/get", s.getSkill),
		mcp.AddReceivingCustomMethod(server, "resources/directory/read", s.readSkillDirectory),
	)
}

func invalidParams(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// failed logs an error of the skills, and returns what the client is told.
func (s *Service) failed(ctx context.Context, err error) error {
	s.logger.ErrorContext(ctx, "the skills cannot be read", "error", err)
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the skills cannot be read"}
}

// manifestOf returns the entry of a skill.
func manifestOf(k *skills.Skill) skillManifest {
	m := skillManifest{URI: skillURI(k.Name, skills.Main), Frontmatter: k.Frontmatter}
	for _, f := range k.Files {
		m.Resources = append(m.Resources, skillResource{skillURI(k.Name, f.Path), f.Digest, f.Size})
	}
	return m
}

// pageAfter returns the skills after a cursor, which is the name of the last skill of the
// page before.
func pageAfter(list []*skills.Skill, cursor string) ([]*skills.Skill, error) {
	if cursor == "" {
		return list, nil
	}
	last, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || !skills.ValidName(string(last)) {
		return nil, invalidParams("the cursor is not one that this server has sent")
	}
	i, found := slices.BinarySearchFunc(list, string(last), func(k *skills.Skill, name string) int { return strings.Compare(k.Name, name) })
	if found {
		i++
	}
	return list[i:], nil
}

func cursorAfter(name string) string { return base64.RawURLEncoding.EncodeToString([]byte(name)) }

// freshPage returns the next skills after a cursor with their files as they are now, and
// whether there are more.
func (s *Service) freshPage(ctx context.Context, cursor string) (list []*skills.Skill, more bool, err error) {
	catalog := s.stores.Load().Skills.Catalog()
	snapshot, err := catalog.Snapshot()
	if err != nil {
		return nil, false, s.failed(ctx, err)
	}
	rest, err := pageAfter(snapshot.Skills(), cursor)
	if err != nil {
		return nil, false, err
	}
	more = len(rest) > skillsPage
	var names []string
	for _, k := range rest[:min(skillsPage, len(rest))] {
		names = append(names, k.Name)
	}
	if snapshot, err = catalog.Fresh(names...); err != nil {
		return nil, false, s.failed(ctx, err)
	}
	for _, name := range names {
		if k := snapshot.Skill(name); k != nil {
			list = append(list, k)
		}
	}
	return list, more, nil
}

// listSkills answers skills/list.
func (s *Service) listSkills(ctx context.Context, _ *mcp.ServerSession, p *listSkillsParams) (*listSkillsResult, error) {
	cursor := ""
	if p != nil {
		cursor = p.Cursor
	}
	list, more, err := s.freshPage(ctx, cursor)
	if err != nil {
		return nil, err
	}
	out := &listSkillsResult{cacheable: uncached, Skills: []skillManifest{}}
	size := 0
	for _, k := range list {
		if size > skillsPageSize {
			more = true
			break
		}
		out.Skills = append(out.Skills, manifestOf(k))
		size += len(k.Frontmatter) + 160*len(k.Files)
		out.NextCursor = cursorAfter(k.Name)
	}
	if !more {
		out.NextCursor = ""
	}
	return out, nil
}

// getSkill answers skills/get.
func (s *Service) getSkill(ctx context.Context, _ *mcp.ServerSession, p *skillParams) (*getSkillResult, error) {
	if p == nil || p.URI == "" {
		return nil, invalidParams("uri is missing; give that of a SKILL.md, such as skill://review/SKILL.md")
	}
	_, k, file, err := s.located(ctx, p.URI)
	if err != nil {
		return nil, err
	}
	if k == nil || file != skills.Main {
		return nil, invalidParams("No skill is served at %s", shownURI(p.URI))
	}
	return &getSkillResult{cacheable: uncached, Skill: manifestOf(k)}, nil
}

// shownURI is a URI of a client as a message repeats it.
func shownURI(uri string) string { return cutText(uri, 300) }

// located returns the skill of a URI with its files as they are now, and the path within
// it, which is "" for the skill itself. Without such a skill k is nil.
func (s *Service) located(ctx context.Context, uri string) (snapshot *skills.Snapshot, k *skills.Skill, file string, err error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "skill" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "" || !skills.ValidName(u.Host) {
		return nil, nil, "", nil //nolint:nilerr // there is no such skill
	}
	file = strings.TrimPrefix(u.Path, "/")
	if file != "" && (path.Clean(file) != file || !fs.ValidPath(file)) {
		return nil, nil, "", nil
	}
	snapshot, err = s.stores.Load().Skills.Catalog().Fresh(u.Host)
	if err != nil {
		return nil, nil, "", s.failed(ctx, err)
	}
	return snapshot, snapshot.Skill(u.Host), file, nil
}

// readSkillResource answers resources/read.
func (s *Service) readSkillResource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	snapshot, k, file, err := s.located(ctx, req.Params.URI)
	if err != nil {
		return nil, err
	}
	if k == nil {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	f, ok := k.File(file)
	if !ok {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	share := execution.ShareFrom(ctx)
	if err := share.Take(ctx, 2*f.Size); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	b, err := snapshot.Read(k, file)
	if errors.Is(err, skills.ErrChanged) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error() + "; read it again"}
	}
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	contents := &mcp.ResourceContents{URI: req.Params.URI, MIMEType: mimeType(file)}
	if isText(b) && len(b) > 0 {
		contents.Text = string(b)
	} else {
		contents.Blob = b
	}
	return &mcp.ReadResourceResult{Cacheable: mcp.Cacheable{CacheScope: uncached.CacheScope}, Contents: []*mcp.ResourceContents{contents}}, nil
}

// resourceOf describes a file of a skill.
func resourceOf(k *skills.Skill, f skills.File) *mcp.Resource {
	r := &mcp.Resource{URI: skillURI(k.Name, f.Path), Name: path.Base(f.Path), MIMEType: mimeType(f.Path), Size: f.Size}
	if f.Path == skills.Main {
		r.Name, r.Description = k.Name, k.Description
	}
	return r
}

// listSkillResources lists the SKILL.md of each skill among the resources. The other
// files are read by the links in it, or found with skills/list.
func (s *Service) listSkillResources(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		list, ok := req.(*mcp.ListResourcesRequest)
		if !ok || method != "resources/list" {
			return next(ctx, method, req)
		}
		cursor := ""
		if list.Params != nil {
			cursor, list.Params.Cursor = list.Params.Cursor, ""
		}
		res, err := next(ctx, method, req)
		out, ok := res.(*mcp.ListResourcesResult)
		if err != nil || !ok {
			return res, err
		}
		found, more, err := s.freshPage(ctx, cursor)
		if err != nil {
			return nil, err
		}
		for _, k := range found {
			main, _ := k.File(skills.Main)
			out.Resources = append(out.Resources, resourceOf(k, main))
			out.NextCursor = cursorAfter(k.Name)
		}
		if !more {
			out.NextCursor = ""
		}
		out.CacheScope = uncached.CacheScope
		return out, nil
	}
}

// directory is the type of a resource that holds others.
const directory = "inode/directory"

// readSkillDirectory answers resources/directory/read. A skill has so few files that all
// are on one page.
func (s *Service) readSkillDirectory(ctx context.Context, _ *mcp.ServerSession, p *skillParams) (*directoryResult, error) {
	if p == nil || p.URI == "" {
		return nil, invalidParams("uri is missing; give that of a directory, such as skill://review")
	}
	if p.Cursor != "" {
		return nil, invalidParams("the cursor is not one that this server has sent")
	}
	_, k, dir, err := s.located(ctx, p.URI)
	if err != nil {
		return nil, err
	}
	if k == nil || strings.HasSuffix(p.URI, "/") {
		return nil, invalidParams("%s is not a directory resource", shownURI(p.URI))
	}
	out := &directoryResult{ResultType: uncached.ResultType, Resources: []*mcp.Resource{}}
	if dir != "" {
		dir += "/"
	}
	seen := map[string]bool{}
	for _, f := range k.Files {
		rest, ok := strings.CutPrefix(f.Path, dir)
		if !ok {
			continue
		}
		child, _, below := strings.Cut(rest, "/")
		switch {
		case !below:
			out.Resources = append(out.Resources, resourceOf(k, f))
		case !seen[child]:
			seen[child] = true
			out.Resources = append(out.Resources, &mcp.Resource{URI: skillURI(k.Name, dir+child), Name: child, MIMEType: directory})
		}
	}
	if len(out.Resources) == 0 {
		return nil, invalidParams("%s is not a directory resource", shownURI(p.URI))
	}
	return out, nil
}

// mimeTypes are the types of files that skills have. The list of the system is not used,
// because it differs between machines.
var mimeTypes = map[string]string{
	".md": "text/markdown", ".txt": "text/plain", ".csv": "text/csv", ".tsv": "text/tab-separated-values", ".html": "text/html", ".css": "text/css",
	".js": "text/javascript", ".mjs": "text/javascript", ".ts": "text/x-typescript", ".py": "text/x-python", ".sh": "application/x-sh", ".sql": "application/sql",
	".go": "text/x-go", ".json": "application/json", ".jsonl": "application/jsonl", ".yaml": "application/yaml", ".yml": "application/yaml",
	".toml": "application/toml", ".xml": "application/xml", ".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg",
	".gif": "image/gif", ".webp": "image/webp", ".pdf": "application/pdf",
}

// mimeType returns the type of a file by its name.
func mimeType(file string) string {
	if t, ok := mimeTypes[strings.ToLower(path.Ext(file))]; ok {
		return t
	}
	return "application/octet-stream"
}
