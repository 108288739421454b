package research

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/skills"
	"github.com/ktxhq/ktx/research/wiki"
	"github.com/ktxhq/ktx/sqlguard"
)

// GuideSkillInput is the input of guide_skill.
type GuideSkillInput struct {
	Name string `json:"name"`
	// File is a file of the skill. "" means the instructions.
	File string `json:"file"`
	// Page counts from 1. 0 means 1.
	Page int `json:"page"`
}

// GuideSkill is the answer of guide_skill: a page of the instructions, or of a file.
type GuideSkill struct {
	Name     string   `json:"name"`
	File     string   `json:"file"`
	Digest   string   `json:"digest"` // of the whole file
	Page     int      `json:"page"`
	Pages    int      `json:"pages"`
	Guidance *string  `json:"guidance"` // for the category
	Content  string   `json:"content"`
	Files    []string `json:"files"` // the others; on the first page of the instructions

	// Notes are for the reader of the answer.
	Notes []string `json:"-"`
}

// pageSize is the size of a page of a skill, in bytes.
const pageSize = 32 << 10

// maxFilesShown is how many other files an answer names.
const maxFilesShown = 100

// GuideSkill returns the instructions of a skill, or another file of it. Reading the first
// page of the instructions counts as a use.
func (s *Service) GuideSkill(ctx context.Context, in GuideSkillInput) (GuideSkill, error) {
	snapshot, k, err := s.skillOf(in.Name)
	if err != nil {
		return GuideSkill{}, err
	}
	store := s.stores.Load().Skills
	out := GuideSkill{Name: k.Name, File: skills.Main, Page: max(in.Page, 1), Files: []string{}}
	name := strings.TrimPrefix(strings.TrimSpace(in.File), "./")
	instructions := name == "" || name == skills.Main
	var text string
	if instructions {
		text, err = snapshot.Body(k)
		out.Guidance = filled(store.Guidance(k.Category))
	} else {
		out.File = name
		text, err = textOf(snapshot, k, name)
	}
	if err != nil {
		return GuideSkill{}, skillError(err)
	}
	if c, line := skills.Hidden(text); c != 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("line %d of %s has the control character %U, which can hide text from a person who reviews it", line, out.File, c))
	}
	file, _ := k.File(out.File)
	out.Digest = file.Digest
	pages := pagesOf(text)
	if out.Pages = len(pages); out.Page > out.Pages {
		return GuideSkill{}, &execution.Error{
			Code: sqlguard.CodeInvalidArguments, Retryable: true,
			Message: fmt.Sprintf("%s of %s has %d pages; there is no page %d", out.File, k.Name, out.Pages, out.Page),
		}
	}
	out.Content = pages[out.Page-1]
	if out.Page < out.Pages {
		out.Notes = append(out.Notes, fmt.Sprintf("this is page %d of %d; call again with page %d", out.Page, out.Pages, out.Page+1))
	}
	if !instructions || out.Page > 1 {
		return out, nil
	}
	for _, f := range k.Files {
		if f.Path != skills.Main && len(out.Files) < maxFilesShown {
			out.Files = append(out.Files, f.Path)
		}
	}
	if more := len(k.Files) - 1 - len(out.Files); more > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d more files are left out; describe_skill lists all", more))
	}
	if err := store.Use(ctx, k.Name); err != nil {
		s.logger.WarnContext(ctx, "a use of a skill was not counted", "skill", k.Name, "error", err)
	}
	return out, nil
}

// SkillText returns a file of a skill that is text. It does not count as a use.
func (s *Service) SkillText(name, file string) (string, error) {
	snapshot, k, err := s.skillOf(name)
	if err != nil {
		return "", err
	}
	text, err := textOf(snapshot, k, file)
	return text, skillError(err)
}

// textOf returns a file of a skill that is text.
func textOf(snapshot *skills.Snapshot, k *skills.Skill, name string) (string, error) {
	b, err := snapshot.Read(k, name)
	if errors.Is(err, fs.ErrNotExist) {
		var known []string
		for _, f := range k.Files {
			known = append(known, f.Path)
		}
		message := fmt.Sprintf("The skill %s has no file %q.", k.Name, wiki.Excerpt(name, 80))
		if near := wiki.Nearest(name, known, 5); len(near) > 0 {
			message += " Nearest: " + strings.Join(near, ", ") + "."
		}
		return "", &execution.Error{Code: sqlguard.CodeNotFound, Message: message, Retryable: true, Hint: "describe_skill lists the files"}
	}
	if err != nil {
		return "", err
	}
	if !isText(b) {
		file, _ := k.File(name)
		return "", &execution.Error{
			Code: sqlguard.CodeInvalidArguments, Message: fmt.Sprintf("%s of the skill %s is not text: %d bytes, %s", name, k.Name, file.Size, file.Digest),
			Hint: "a client that knows resources reads it as " + skillURI(k.Name, name),
		}
	}
	return string(b), nil
}

// isText reports whether a file can be shown.
func isText(b []byte) bool { return utf8.Valid(b) && !bytes.ContainsRune(b, 0) }

// pagesOf divides a text into pages, at ends of lines where that is possible. There is at
// least one.
func pagesOf(text string) []string {
	var pages []string
	for len(text) > pageSize {
		end := strings.LastIndexByte(text[:pageSize], '\n') + 1
		if end < pageSize/2 {
			for end = pageSize; !utf8.RuneStart(text[end]); end-- {
			}
		}
		pages = append(pages, text[:end])
		text = text[end:]
	}
	return append(pages, text)
}

// escapePath writes a path of a file as a part of a URI.
func escapePath(file string) string {
	parts := strings.Split(file, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// handleGuideSkill is [Service.GuideSkill] with its notes.
func (s *Service) handleGuideSkill(ctx context.Context, c *toolCall, in GuideSkillInput) (GuideSkill, error) {
	out, err := s.GuideSkill(ctx, in)
	c.notes = append(c.notes, out.Notes...)
	return out, err
}
