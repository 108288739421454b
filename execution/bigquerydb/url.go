package bigquerydb

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/execution/internal/network"
)

const (
	exampleURL = "bigquery://project/dataset"
	publicAPI  = "https://bigquery.googleapis.com"
	apiPath    = "/bigquery/v2"

	paramCredentials = "credentials"
	paramEndpoint    = "endpoint"
	paramImpersonate = "impersonate"
	paramLocation    = "location"
)

var urlParameters = []string{paramCredentials, paramEndpoint, paramImpersonate, paramLocation}

// target is what a URL names.
type target struct {
	project, dataset, location string
	api                        string // up to the version
	credentials, impersonate   string
	anonymous                  bool   // no token is sent: the endpoint is a server on this machine
	weak                       string // what the transport leaves unprotected; "" means nothing
}

// Names of the service. Reference: Creating datasets; Creating and managing projects; IAM
// service accounts; Dataset locations.
var (
	projectForm  = regexp.MustCompile(`^(?:[a-z0-9][-.a-z0-9]*\.[a-z]+:)?[a-z][-a-z0-9]{2,61}[a-z0-9]$`)
	datasetForm  = regexp.MustCompile(`^[A-Za-z0-9_]+$`)
	accountForm  = regexp.MustCompile(`^[-a-z0-9.]+@[-a-z0-9.]+$`)
	locationForm = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)
)

// readURL reads the URL. Errors contain no part of it except names of parameters.
func readURL(text string) (*target, error) {
	rest, found := strings.CutPrefix(text, "bigquery://")
	if !found {
		return nil, errors.New("the url must look like " + exampleURL)
	}
	// A project of a domain has a colon in its name, which url.Parse takes for a port.
	name, query, _ := strings.Cut(rest, "?")
	t := &target{api: publicAPI + apiPath}
	t.project, t.dataset, _ = strings.Cut(strings.TrimSuffix(name, "/"), "/")
	switch {
	case strings.Contains(name, "@"):
		return nil, errors.New("the url has no user: write credentials=/path/to/key.json, or leave it out for the default credentials")
	case !projectForm.MatchString(t.project):
		return nil, errors.New("the url names no project: it must look like " + exampleURL)
	case !datasetForm.MatchString(t.dataset):
		return nil, errors.New("the url names no dataset, in which names without one are looked up: it must look like " + exampleURL)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("the url's parameters cannot be read")
	}
	for key, all := range values {
		switch {
		case !slices.Contains(urlParameters, key):
			return nil, fmt.Errorf("the url parameter %q is not accepted; known are %s", key, strings.Join(urlParameters, ", "))
		case len(all) > 1:
			return nil, fmt.Errorf("the url sets %s more than once", key)
		}
	}
	t.credentials, t.impersonate, t.location = values.Get(paramCredentials), values.Get(paramImpersonate), values.Get(paramLocation)
	if t.impersonate != "" && !accountForm.MatchString(t.impersonate) {
		return nil, errors.New("impersonate must be the address of a service account, such as reader@project.iam.gserviceaccount.com")
	}
	if t.location != "" && !locationForm.MatchString(t.location) {
		return nil, errors.New("location must be a location of BigQuery, such as EU or europe-west1")
	}
	if endpoint := values.Get(paramEndpoint); endpoint != "" {
		return t, t.at(endpoint)
	}
	return t, nil
}

// at sets the address of the API. One without TLS must be on this machine, and gets a token
// only if the URL names credentials.
func (t *target) at(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return errors.New("endpoint must look like https://host")
	}
	switch {
	case u.Scheme == "https":
	case u.Scheme != "http":
		return errors.New("endpoint must begin with https://")
	case !network.Local(u.Hostname()):
		return errors.New("without TLS, statements, rows and tokens are sent in the clear: use https for endpoint")
	default:
		t.anonymous = t.credentials == "" && t.impersonate == ""
		t.weak = "the connection is made without TLS"
	}
	t.api = u.Scheme + "://" + u.Host + apiPath
	return nil
}
