# Everything here needs Go; `make test` also needs PostgreSQL and Redis, which
# `make setup` installs on Debian.

SEED     ?= 1
ORDERS   ?= 100000
FUZZTIME ?= 10s
LONG     ?=
TOOL     := go tool -modfile=tools/go.mod

# The race detector watches our code, not the C of SQLite that was translated to
# Go: instrumenting that makes it several times slower and finds nothing of ours.
# (Packages with generic code must all be watched, or it sees races that are none.)
RACE := -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc=-race=false

# Nothing runs at once in these: they are run without the race detector, which would
# take minutes to see nothing. The commands are run as programs, and what they run is
# watched elsewhere.
CALM := $(addprefix ferry/internal/,house world order quote money ledger venue/uniswap/amm venue/uniswap/route) ferry/cmd/ferry
WATCHED = $(filter-out $(CALM),$(shell go list ./...))

# The other packages that have long sweeps: the rest need not be built without the race
# detector. In families and the signer a sweep is of deposits, and no long test.
SWEEPS = $(filter-out $(CALM),$(addprefix ferry/,$(patsubst %/,%,$(sort $(dir $(shell grep -rlE --include=*_test.go 'func Test[A-Za-z]*Sweep' internal cmd | grep -vE '^internal/(family|signer)/'))))))

# Every run has other seeds, so that many short runs see what a long one sees.
SIZE = $(if $(LONG),-tags long)

.DEFAULT_GOAL := help
.PHONY: help dev setup test contract contracts newcomer check format generate bench sim fuzz build

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

dev: ## Run the whole service on real local nodes
	go run ./cmd/ferry dev

setup: ## Install what the tests need: PostgreSQL, Redis, a C compiler, Node.js and curl, on Debian
	@scripts/setup

test: setup ## Run all tests under the race detector, then the sweeps without it (LONG=1 for all their cases)
	cd devnet && go build -o /dev/null . # the local chains of the tests, before tests wait for them
	CGO_ENABLED=1 go test $(RACE) -p 3 -timeout 15m $(WATCHED) # many wait for blocks most of the time
	cd devnet && go test ./...
	go test $(SIZE) -timeout $(if $(LONG),3h,15m) $(CALM)
	go test $(SIZE) -timeout $(if $(LONG),3h,20m) -run Sweep $(SWEEPS)
	go test -timeout 10m -run /postgres ./internal/front # what the race detector was spared
	@$(MAKE) --no-print-directory contract newcomer

contract: ## Lint the contracts, and complete orders with clients made from or held to them
	@scripts/contract/run

newcomer: ## Follow docs/newcomer.md and the README word for word
	@timeout 300 scripts/newcomer docs/newcomer.md
	@timeout 900 scripts/newcomer README.md

check: ## Check format, vet, lint and generated files
	@scripts/check

format: ## Format all Go files
	$(TOOL) gofumpt -w cmd internal devnet

contracts: ## Compile the Solidity contracts anew (needs Node.js)
	@contracts/build

generate: ## Write generated files anew
	go generate ./...

bench: ## Measure against floors and peers in the same run (JSON=1 for machines)
	@scripts/bench-setup >/dev/null
	go run ./internal/bench

sim: ## Run the simulated world (SEED=1 ORDERS=100000)
	go run ./cmd/ferry sim --seed $(SEED) --orders $(ORDERS)

fuzz: ## Fuzz every target for a while (FUZZTIME=10s)
	@scripts/fuzz $(FUZZTIME)

build: ## Build the binary into bin/ferry
	CGO_ENABLED=0 go build -trimpath -o bin/ferry ./cmd/ferry
