# Everything here needs Go; `make test` also needs a PostgreSQL server, which
# `make setup` installs on Debian.

SEED     ?= 1
ORDERS   ?= 100000
FUZZTIME ?= 20s
TOOL     := go tool -modfile=tools/go.mod

# The race detector watches our code, not the C of SQLite that was translated to
# Go: instrumenting that makes it several times slower and finds nothing of ours.
RACE := -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc=-race=false

.DEFAULT_GOAL := help
.PHONY: help dev setup test check format generate bench sim fuzz build

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

dev: ## Run a small simulated world and watch it
	go run ./cmd/ferry sim --orders 500

setup: ## Install what the tests need: PostgreSQL and a C compiler, on Debian
	@scripts/setup

test: setup ## Run all tests under the race detector, then the long sweeps without it
	CGO_ENABLED=1 go test $(RACE) -timeout 15m ./...
	go test -timeout 20m -run Sweep ./...

check: ## Check format, vet, lint and generated files
	@scripts/check

format: ## Format all Go files
	$(TOOL) gofumpt -w cmd internal

generate: ## Write generated files anew
	go generate ./...

bench: ## Measure against floors and peers in the same run (JSON=1 for machines)
	@scripts/bench-setup >/dev/null
	go run ./internal/bench

sim: ## Run the simulated world (SEED=1 ORDERS=100000)
	go run ./cmd/ferry sim --seed $(SEED) --orders $(ORDERS)

fuzz: ## Fuzz every target for a while (FUZZTIME=20s)
	@scripts/fuzz $(FUZZTIME)

build: ## Build the binary into bin/ferry
	CGO_ENABLED=0 go build -trimpath -o bin/ferry ./cmd/ferry
