package login

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google/externalaccount"
)

// federated is a principal of another identity provider, whose token Google exchanges for
// one of its own: workload or workforce identity federation. The token is in a file, or
// what a URL answers. No program is run to get it, and none is signed for AWS.
type federated struct {
	Audience    string  `json:"audience"`
	SubjectType string  `json:"subject_token_type"`
	Exchange    string  `json:"token_url"`
	Pool        string  `json:"workforce_pool_user_project"`
	Subject     subject `json:"credential_source"`
	Lifetime    struct {
		Seconds int `json:"token_lifetime_seconds"`
	} `json:"service_account_impersonation"`

	id, secret string // of a client, which a pool can want
}

// subject is where the token of the other provider comes from.
type subject struct {
	File    string            `json:"file"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Format  struct {
		Type  string `json:"type"`
		Field string `json:"subject_token_field_name"`
	} `json:"format"`
	Executable  json.RawMessage `json:"executable"`
	Certificate json.RawMessage `json:"certificate"`
	Environment string          `json:"environment_id"`
}

// complete says why the principal cannot be used, or nil. Tokens are sent to Google alone.
func (f *federated) complete(what string) error {
	s := &f.Subject
	switch {
	case len(s.Executable) > 0:
		return failed("the credentials (%s) want a program to be run, which is never done: write its token into a file, and name that as credential_source.file", what)
	case s.Environment != "" || len(s.Certificate) > 0 || (s.File == "") == (s.URL == ""):
		return failed("credential_source of the credentials (%s) must have either file or url: others are not supported", what)
	case s.URL != "" && !secure(s.URL) && !onMachine(s.URL):
		return failed("credential_source.url of the credentials (%s) must begin with https://, or be on this machine", what)
	case !ofGoogle(f.Exchange):
		return failed("token_url of the credentials (%s) must be https:// and a host of googleapis.com", what)
	case f.Audience == "" || f.SubjectType == "":
		return failed("the credentials (%s) have no audience or no subject_token_type", what)
	case s.Format.Type != "" && s.Format.Type != "text" && s.Format.Type != "json":
		return failed("credential_source.format.type of the credentials (%s) must be text or json", what)
	case s.Format.Type == "json" && s.Format.Field == "":
		return failed("credential_source.format of the credentials (%s) has no subject_token_field_name", what)
	}
	return nil
}

// ofGoogle reports whether an address is one of Google's APIs.
func ofGoogle(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.User == nil && u.Scheme == "https" && u.Port() == "" && strings.HasSuffix(u.Hostname(), ".googleapis.com")
}

// onMachine reports whether an address is the metadata server of a machine in a cloud.
func onMachine(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.User == nil && u.Scheme == "http" && u.Host == metadataHost
}

func (f *federated) fetch(ctx context.Context, client *http.Client, scope string) (*oauth2.Token, error) {
	from, err := externalaccount.NewTokenSource(context.WithValue(ctx, oauth2.HTTPClient, client), externalaccount.Config{
		Audience: f.Audience, SubjectTokenType: f.SubjectType, TokenURL: f.Exchange, ClientID: f.id, ClientSecret: f.secret,
		WorkforcePoolUserProject: f.Pool, Scopes: []string{scope}, SubjectTokenSupplier: &supplier{f.Subject, client},
	})
	if err != nil {
		return nil, failed("workforce_pool_user_project of the credentials is only for an audience with a workforce pool")
	}
	token, err := from.Token()
	if err == nil {
		return token, nil
	}
	// The library has no type for a refusal.
	var status int
	if _, body, found := strings.Cut(err.Error(), "status code "); found {
		if n, _ := fmt.Sscanf(body, "%d:", &status); n == 1 {
			_, body, _ = strings.Cut(body, ": ")
			return nil, refused(status, "", []byte(body))
		}
	}
	return nil, err
}

// supplier gets the token of the other provider.
type supplier struct {
	subject
	client *http.Client
}

// SubjectToken returns the token. Its errors have nothing of it.
func (s *supplier) SubjectToken(ctx context.Context, _ externalaccount.SupplierOptions) (string, error) {
	raw, err := s.read(ctx)
	if err != nil {
		return "", err
	}
	token := string(bytes.TrimSpace(raw))
	if s.Format.Type == "json" {
		var fields map[string]any
		if err := json.Unmarshal(raw, &fields); err != nil {
			return "", failed("what credential_source has is no JSON")
		}
		token, _ = fields[s.Format.Field].(string)
	}
	if token == "" {
		return "", failed("credential_source has no token")
	}
	return token, nil
}

func (s *supplier) read(ctx context.Context) ([]byte, error) {
	if s.File != "" {
		f, err := os.Open(s.File)
		if err != nil {
			return nil, failed("credential_source.file cannot be read: %v", cause(err))
		}
		defer func() { _ = f.Close() }() // it was read
		raw, err := io.ReadAll(io.LimitReader(f, maxFile))
		if err != nil {
			return nil, failed("credential_source.file cannot be read: %v", cause(err))
		}
		return raw, nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		return nil, failed("credential_source.url is no URL")
	}
	for name, value := range s.Headers {
		req.Header.Set(name, value)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, &Error{Message: "credential_source.url cannot be reached", Again: true}
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	if resp.StatusCode != http.StatusOK {
		return nil, &Error{Message: fmt.Sprintf("credential_source.url answers with status %d", resp.StatusCode), Again: resp.StatusCode >= http.StatusInternalServerError}
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, &Error{Message: "credential_source.url does not answer to its end", Again: true}
	}
	return raw, nil
}
