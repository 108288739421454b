# ktx: `make` lists the targets.

.DEFAULT_GOAL := help
.NOTPARALLEL:
SHELL := /bin/sh

GO ?= go
LINT_VERSION := 2.15.0
LINT_DIR := $(CURDIR)/.tools/golangci-lint-$(LINT_VERSION)
LINT := $(LINT_DIR)/golangci-lint
GOTESTSUM_VERSION := 1.13.0
GOTESTSUM_DIR := $(CURDIR)/.tools/gotestsum-$(GOTESTSUM_VERSION)
GOTESTSUM := $(GOTESTSUM_DIR)/gotestsum
SUITE := LINT=$(LINT) GOTESTSUM=$(GOTESTSUM) scripts/suite
NFPM_VERSION := 2.43.0
NFPM_DIR := $(CURDIR)/.tools/nfpm-$(NFPM_VERSION)
NFPM := $(NFPM_DIR)/nfpm
FUZZTIME ?= 20s
FIRST := $(or $(FIRST),$(shell date +%s)00000)

# go build fails when it cannot read the version from git, as in a copied
# checkout or one that belongs to another user. The flag turns that off.
ifneq ($(shell git rev-parse --verify -q HEAD >/dev/null 2>&1 && echo yes),yes)
export GOFLAGS := $(strip $(shell $(GO) env GOFLAGS) -buildvcs=false)
endif

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## build bin/ktx
	$(GO) build -trimpath -o bin/ktx ./cmd/ktx

.PHONY: build-csqlite
build-csqlite: ## build bin/ktx with the C library of SQLite: aggregates take half of the time (execution/sqlitedb/engine)
	scripts/go-csqlite build -trimpath -o bin/ktx ./cmd/ktx

.PHONY: demo
demo: ## build without cgo, which is faster, then show one query that runs and five that are refused
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ktx ./cmd/ktx
	bin/ktx demo

.PHONY: check
check: lint ## check the format, vet, lint and run the short tests; every commit passes these
	$(GO) test -vet=off -short ./...

.PHONY: test
test: ready ## run all tests that a change must pass; installs missing programs on Debian-like systems
	@$(SUITE)

.PHONY: test-all
test-all: ready ## run make test and all other tests: full samples, all faults, other server versions, third-party tools
	@$(SUITE) all

.PHONY: stage
stage: ready ## run some stages of make test-all (ARGS="race plain"; scripts/suite lists them)
	@$(SUITE) $(ARGS)

.PHONY: test-engines
test-engines: ## fetch engines that are too large for make test, and test what needs them (ClickHouse: 178 MB; TiDB and GoogleSQL: 25 minutes of building)
	scripts/test-engines $(ARGS)

.PHONY: screenshots
screenshots: test-deps ## take pictures of every page of the server, from narrow to very wide, light and dark, into .tools/screenshots
	mkdir -p .tools/screenshots
	axe=$$(scripts/npm-tools axe) && KTX_TEST_AXE=$$axe/node_modules/axe-core/axe.min.js KTX_TEST_SCREENSHOTS=$(CURDIR)/.tools/screenshots CI=true $(GO) test -count=1 -run InChromium ./httpapi/pages

.PHONY: slow
slow: $(GOTESTSUM) ## list the thirty slowest tests of the last make test or test-all
	@cat .tools/suite/*.json | $(GOTESTSUM) tool slowest --num 30 --threshold 0s

.PHONY: lint
lint: $(LINT) ## check the format, vet and lint; changes no file
	$(LINT) run ./...

.PHONY: fmt
fmt: $(LINT) ## format the sources
	$(LINT) fmt ./...

.PHONY: generate
generate: ## run go generate, and fail if it changes a file
	scripts/generate-check

.PHONY: crossbuild
crossbuild: ## build for the other platforms, without cgo
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) build -o /dev/null ./cmd/ktx
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/ktx
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null ./cmd/ktx

.PHONY: prove
prove: ## run the corpus on temporary servers (ARGS="--dialect sqlite"; docs/evidence/ktx-prove.md)
	@mkdir -p bin
	$(GO) build -o bin/ktx-prove ./cmd/ktx-prove
	bin/ktx-prove $(ARGS)

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (default 20s)
	FUZZTIME=$(FUZZTIME) scripts/fuzz

.PHONY: fuzz-sl
fuzz-sl: ## compare the semantic layer with a naive evaluator: 20,000 new cases on SQLite, 2,000 on PostgreSQL and MariaDB (FIRST=seed repeats them)
	$(GO) test ./research/semantic/semantictest -count=1 -v -run TestCompiler -first $(FIRST) -cases 20000
	$(GO) test ./research/semantic/semantictest -count=1 -v -run TestCompiler -first $(FIRST) -cases 2000 -engines postgres,mysql

.PHONY: endings
endings: ready ## cancel 200 calls over each transport; each must end at the server within 250 ms
	@$(SUITE) cancel

.PHONY: bench
bench: ## run the benchmarks; writes docs/evidence/performance.md
	$(GO) run ./tools/perf

.PHONY: faults
faults: ## run all faults of the fault suite; writes docs/evidence/reliability.md
	KTX_TEST_FAULTS=full $(GO) test -tags duckdb -count 1 -timeout 45m ./execution/executiontest/faults -update

.PHONY: golden
golden: ## rewrite the golden files with what the code prints now; read the diff
	$(GO) test $$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -n 1 dirname | sort -u) -update

.PHONY: corpus
corpus: build ## replay the corpus through the guard
	bin/ktx corpus run

.PHONY: scoreboard
scoreboard: ## run the corpus against MCP servers from npm and against ktx; writes docs/evidence/scoreboard.md (ARGS="-jobs 4")
	scripts/scoreboard $(ARGS)

.PHONY: eval
eval: build ## measure what search and scans find (DATA=folder with Spider and BIRD; docs/evidence/discovery-quality.md)
	@$(GO) run ./tools/eval -ktx bin/ktx $(if $(DATA),-data "$(DATA)") $(ARGS)

.PHONY: release-snapshot
release-snapshot: $(NFPM) ## make everything that a release has into dist/ (TARGETS=linux/amd64,... for some systems); publishes nothing
	$(GO) run ./tools/release -out dist -nfpm $(NFPM) -targets "$(TARGETS)"

.PHONY: test-install
test-install: $(NFPM) ## try every way to install ktx from dist/, without network (root; Debian-like systems)
	scripts/test-install $(ARGS)

.PHONY: tools
tools: $(LINT) $(GOTESTSUM) ## install the linter and the test runner into .tools/

$(LINT):
	GOBIN=$(LINT_DIR) CGO_ENABLED=0 $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$(LINT_VERSION)

$(GOTESTSUM):
	GOBIN=$(GOTESTSUM_DIR) CGO_ENABLED=0 $(GO) install gotest.tools/gotestsum@v$(GOTESTSUM_VERSION)

$(NFPM):
	GOBIN=$(NFPM_DIR) CGO_ENABLED=0 $(GO) install github.com/goreleaser/nfpm/v2/cmd/nfpm@v$(NFPM_VERSION)

.PHONY: ready
ready: ## do test-deps and tools, at the same time
	@LINT=$(LINT) scripts/ready

.PHONY: test-deps
test-deps: ## install the programs that the tests need and that are missing (Debian-like systems)
	@scripts/test-deps

.PHONY: test-versions
test-versions: ## run the tests that use servers against PostgreSQL 17 and 18, and newer MariaDB and MySQL
	scripts/test-versions

.PHONY: test-formats
test-formats: ## check the reports of ktx sql check, the action and the hook with third-party tools
	scripts/test-formats

.PHONY: test-skills
test-skills: ## run the contract of the stores of skills on PostgreSQL with pgvector, which comes from npm
	scripts/test-skills $(ARGS)

.PHONY: conformance
conformance: ## run the MCP conformance suite, the MCP inspector and third-party clients against ktx
	scripts/conformance $(ARGS)

.PHONY: clean
clean: ## remove the built programs, dist and installed tools
	rm -rf bin dist .tools
