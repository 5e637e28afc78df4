# Needs make and a Python >= 3.11; everything else is installed into .venv, .venv-sam and .venv-emulator (three,
# because SAM CLI, the emulator and this project pin different versions of botocore).

include layers/build/python.mk

ARCHITECTURE ?= arm64
BIN := .venv/bin
SAM := .venv-sam/bin/sam
export MINISTACK_BIN ?= $(CURDIR)/.venv-emulator/bin/ministack
export SAM_BIN ?= $(CURDIR)/$(SAM)
export SAM_CLI_TELEMETRY ?= 0

DEV := .venv/.installed
LOCAL := $(DEV) .venv-sam/.installed .venv-emulator/.installed
TESTS := $(wildcard tests/unit tests/contracts tests/integration tests/faults tests/architecture)

.DEFAULT_GOAL := help
.PHONY: help run demo chat test faults check audit e2e load bench bench-recall build deploy lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

run: $(LOCAL) ## Run everything on this machine and open the playground: no AWS account, no key, no WhatsApp number
	@$(BIN)/python -m tools.local run --playground $(ARGS)

demo: $(LOCAL) ## Play a scripted week on the local stack and check what comes of it
	@$(BIN)/python -m tools.local demo $(ARGS)

chat: $(LOCAL) ## Talk with the agent in the terminal
	@$(BIN)/python -m tools.local chat $(ARGS)

test: $(DEV) .venv-emulator/.installed ## Unit, contract, integration, fault and architecture tests
	$(BIN)/pytest $(TESTS) $(ARGS)

faults: $(DEV) ## Let everything crash and fail at every call, and take away every condition; minutes
	@PYTHONPATH=layers/core:. $(BIN)/python -m tests.faults $(ARGS)

check: $(LOCAL) ## Linters, types, imports, template, and all of `make test`
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=layers/core $(BIN)/lint-imports --no-cache
	$(BIN)/cfn-lint template.yaml
	$(SAM) validate --lint --template template.yaml --region us-east-1
	$(BIN)/pytest $(TESTS) $(ARGS)

audit: .venv-audit/.installed ## Security checks beyond `make check`: template (checkov), known holes in packages (pip-audit)
	@.ci/audit .venv-audit/bin

e2e: $(LOCAL) ## Drive the deployed local stack from outside (with `sam local invoke` where Docker runs)
	@$(BIN)/python -m tools.local e2e $(ARGS)

load: $(LOCAL) ## Let 300 people write at once to the local stack; check that nothing is lost, doubled or out of order
	@$(BIN)/python -m tools.local load $(ARGS)

bench: .venv-bench/.installed .venv-emulator/.installed ## Measure cost, cold starts and memory beside others'; writes docs/benchmarks; minutes
	@.venv-bench/bin/python -m tools.bench $(ARGS)

bench-recall: .venv-bench/.installed ## Measure what recall finds; writes docs/benchmarks/recall.md
	@.venv-bench/bin/python -m tools.bench.recall

build: .venv-sam/.installed ## Build for AWS; ARCHITECTURE=x86_64 for the other processor
	$(SAM) build --parameter-overrides Architecture=$(ARCHITECTURE)

deploy: build ## Deploy to your AWS account; asks for the settings
	$(SAM) deploy --guided --parameter-overrides Architecture=$(ARCHITECTURE)

lock: ## Write the locked requirements again; needs uv
	requirements/lock $(ARGS)

clean: ## Remove what was built and installed here
	rm -rf .venv .venv-audit .venv-bench .venv-sam .venv-emulator .aws-sam .local .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.installed: requirements/dev.txt
.venv-sam/.installed: requirements/sam.txt
.venv-emulator/.installed: requirements/emulator.txt
.venv-audit/.installed: requirements/audit.txt
.venv-bench/.installed: requirements/bench.txt

.venv/.installed .venv-sam/.installed .venv-emulator/.installed .venv-audit/.installed .venv-bench/.installed:
	@[ -n "$(python)" ] || { echo "Python 3.11 or newer is needed and none was found: install one, or name it with make PYTHON=…" >&2; exit 1; }
	@mkdir -p .local/logs
	@echo "Installing $(<:requirements/%.txt=%) into $(@D) (once) …"
	@$(python) -m venv --clear $(@D) >.local/logs/install.log 2>&1 \
	  || { echo "$(python) could not make a virtual environment (on Debian: apt install python3-venv); see .local/logs/install.log" >&2; exit 1; }
	@PIP_USER=0 $(@D)/bin/python -m pip install --disable-pip-version-check --no-input --no-deps --require-hashes --requirement $< >>.local/logs/install.log 2>&1 \
	  || { echo "The packages of $< could not be installed: is the package index reachable? See .local/logs/install.log" >&2; exit 1; }
	@touch $@
