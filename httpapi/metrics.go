package httpapi

import (
	"cmp"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// Metrics are the metrics of one process. They observe the statements of the
// gateway.
type Metrics struct {
	registry  *prometheus.Registry
	decisions *prometheus.CounterVec
	steps     *prometheus.HistogramVec
	outcomes  *prometheus.CounterVec
	cancels   *prometheus.CounterVec
	rows      *prometheus.CounterVec
	bytes     *prometheus.CounterVec
	denied    *prometheus.CounterVec
	refused   *prometheus.CounterVec

	upstreamCalls   *prometheus.CounterVec
	upstreamSeconds *prometheus.HistogramVec
	upstreamBytes   *prometheus.CounterVec
}

// Queue says how busy one connection is.
type Queue struct {
	ConnectionID     string
	Running, Waiting int
	// Held counts the statements among Running that were asked to end and have
	// not ended, and Longest is for how long the first of them has been held.
	Held    int
	Longest time.Duration
}

// NewMetrics returns metrics that call queues and health when they are read.
func NewMetrics(queues func() []Queue, health func() audit.Health) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Metrics{
		registry:  prometheus.NewRegistry(),
		decisions: counter("ktx_decisions_total", "Statements judged, by the code of the decision; allow when the statement may run.", "connection", "code"),
		steps: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ktx_step_seconds", Help: "Time of each step of a statement: judge, record, wait, run.",
			Buckets: []float64{.00001, .0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5, 10, 30, 60},
		}, []string{"step"}),
		outcomes: counter("ktx_statements_total", "Statements that were let run, by how they ended: ok or a code.", "connection", "outcome"),
		cancels:  counter("ktx_cancels_total", "Statements that were cancelled.", "connection"),
		rows:     counter("ktx_rows_total", "Rows returned.", "connection"),
		bytes:    counter("ktx_bytes_total", "Bytes of values returned.", "connection"),
		denied:   counter("ktx_http_denied_total", "Requests refused before their route, and connections closed to make room, by reason.", "reason"),
		refused:  counter("ktx_calls_refused_total", "Calls refused before a statement was judged, by code.", "code"),

		upstreamCalls: counter("ktx_upstream_calls_total", "Calls of tools of other MCP servers, by how they ended: ok or a code. The tool is empty when the server has none of the name.", "server", "tool", "outcome"),
		upstreamSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ktx_upstream_call_seconds", Help: "Time of calls of tools of other MCP servers.", Buckets: []float64{.005, .01, .05, .1, .5, 1, 5, 10, 30, 60},
		}, []string{"server"}),
		upstreamBytes: counter("ktx_upstream_bytes_total", "Bytes of results of other MCP servers.", "server"),
	}
	m.registry.MustRegister(
		m.decisions, m.steps, m.outcomes, m.cancels, m.rows, m.bytes, m.denied, m.refused,
		m.upstreamCalls, m.upstreamSeconds, m.upstreamBytes,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&queueCollector{
			queues:  queues,
			running: prometheus.NewDesc("ktx_queue_running", "Statements that run.", []string{"connection"}, nil),
			waiting: prometheus.NewDesc("ktx_queue_waiting", "Statements that wait for their turn.", []string{"connection"}, nil),
			held:    prometheus.NewDesc("ktx_queue_held", "Statements that should have ended and keep their slot because their end is not confirmed.", []string{"connection"}, nil),
			longest: prometheus.NewDesc("ktx_queue_held_seconds", "For how long the first of the held statements has been held.", []string{"connection"}, nil),
		},
		gauge("ktx_audit_unflushed_events", "Events of the audit log that are written and not known to be flushed to the disk.", func() float64 {
			h := health()
			return float64(max(h.Seq-h.Synced, 0))
		}),
		gauge("ktx_audit_lost_events", "Events that could not be recorded since the last one that was.", func() float64 { return float64(health().Lost) }),
	)
	return m
}

func gauge(name, help string, value func() float64) prometheus.GaugeFunc {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
}

// follow adds the metrics of a server.
func (m *Metrics) follow(s *Server) {
	m.registry.MustRegister(
		gauge("ktx_http_sessions", "Sessions of MCP that are open.", func() float64 { return float64(s.sessions.count()) }),
		gauge("ktx_http_answer_bytes", "Memory that is set aside for answers that are being made or sent.", func() float64 { return float64(s.room.Taken()) }),
		gauge("ktx_http_connections", "Connections of clients that are open.", func() float64 { return float64(s.connections.count()) }),
	)
}

// Decided counts a decision.
func (m *Metrics) Decided(connection string, code sqlguard.Code) {
	m.decisions.WithLabelValues(connection, cmp.Or(string(code), audit.VerdictAllow)).Inc()
}

// Took records how long a step took.
func (m *Metrics) Took(_, step string, d time.Duration) {
	m.steps.WithLabelValues(step).Observe(d.Seconds())
}

// Finished counts the end of a statement.
func (m *Metrics) Finished(connection string, code sqlguard.Code, rows, bytes int64) {
	m.outcomes.WithLabelValues(connection, cmp.Or(string(code), audit.StatusOK)).Inc()
	if code == sqlguard.CodeCancelled {
		m.cancels.WithLabelValues(connection).Inc()
	}
	m.rows.WithLabelValues(connection).Add(float64(rows))
	m.bytes.WithLabelValues(connection).Add(float64(bytes))
}

// UpstreamCalled counts the end of a call of a tool of another MCP server. The code is ""
// for one that ended well.
func (m *Metrics) UpstreamCalled(server, tool, code string, took time.Duration, bytes int64) {
	m.upstreamCalls.WithLabelValues(server, tool, cmp.Or(code, audit.StatusOK)).Inc()
	m.upstreamSeconds.WithLabelValues(server).Observe(took.Seconds())
	m.upstreamBytes.WithLabelValues(server).Add(float64(bytes))
}

// queueCollector reads the queues when the metrics are collected.
type queueCollector struct {
	queues                          func() []Queue
	running, waiting, held, longest *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *queueCollector) Describe(out chan<- *prometheus.Desc) {
	out <- c.running
	out <- c.waiting
	out <- c.held
	out <- c.longest
}

// Collect implements prometheus.Collector.
func (c *queueCollector) Collect(out chan<- prometheus.Metric) {
	for _, q := range c.queues() {
		out <- prometheus.MustNewConstMetric(c.running, prometheus.GaugeValue, float64(q.Running), q.ConnectionID)
		out <- prometheus.MustNewConstMetric(c.waiting, prometheus.GaugeValue, float64(q.Waiting), q.ConnectionID)
		out <- prometheus.MustNewConstMetric(c.held, prometheus.GaugeValue, float64(q.Held), q.ConnectionID)
		out <- prometheus.MustNewConstMetric(c.longest, prometheus.GaugeValue, q.Longest.Seconds(), q.ConnectionID)
	}
}

// metrics answers with the metrics of the whole process. A principal that may
// not use every connection does not see the names of the others.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	if actor, _ := audit.ActorFrom(r.Context()); actor.Connections != nil {
		refuse(w, http.StatusForbidden, Problem{Code: "forbidden", Message: "the token is for some connections only, and the figures are of all"})
		return
	}
	promhttp.HandlerFor(s.config.Metrics.registry, promhttp.HandlerOpts{DisableCompression: true}).ServeHTTP(w, r)
}

// Refused counts a call that was refused before a statement was judged.
func (m *Metrics) Refused(code sqlguard.Code) { m.refused.WithLabelValues(string(code)).Inc() }
