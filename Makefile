# Two commands are all a newcomer needs: make lab and make test. make help lists the rest.
# Every path in a recipe is relative to this folder, so a space in the folder's own path does no harm.

PYTHON ?= python3
# Flags for JupyterLab, as in: make lab ARGS="--no-browser --port=9000"; for make fleet its command and flags
ARGS ?=

VENV_PYTHON := .venv/bin/python
PREPARE = "$(PYTHON)" notebooks/setup/prepare.py

# Needed neither by the simulator nor by the kernel. One setting for all builds lets them share one build cache.
export CGO_ENABLED := 0
# The kernel of this project comes before one of the same name that the user has installed.
export JUPYTER_PREFER_ENV_PATH := 1

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help lab setup author fleet test lint bench fmt clean need

help: ## list these targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r target text; do printf '%-14s %s\n' "$$target" "$$text"; done

lab: setup ## set up what is missing, then open the student's notebooks in JupyterLab
	@"$(VENV_PYTHON)" notebooks/setup/serve.py lab fleet_orch $(ARGS) $(LAB_FLAGS)

setup: need ## everything that make lab does, except starting JupyterLab
	@$(PREPARE) lab

author: setup ## open the instructor's notebooks (notebooks/source) in JupyterLab
	@"$(VENV_PYTHON)" notebooks/setup/serve.py notebooks source $(ARGS) $(LAB_FLAGS)

fleet: ## run the command line, as in: make fleet ARGS="checkpoint --mtbf 3h --write 25s"
	@go run ./fleet/cmd/fleet $(or $(ARGS),help)

test: need ## install what the tests need, then run every test
	@$(PREPARE) test
	@"$(VENV_PYTHON)" notebooks/setup/run_tests.py

lint: need ## check the Go code with golangci-lint
	@$(PREPARE) lint
	@if [ -x .venv/bin/golangci-lint ]; then .venv/bin/golangci-lint run --allow-parallel-runners ./...; fi

bench: need ## run the Go benchmarks, and the cockpit's in Chromium if make test has set that up
	@go test -run '^$$' -bench . -benchmem ./...
	@if [ -d notebooks/tests/browser/node_modules ]; then go test ./widgets -run Storybook && node notebooks/tests/browser/bench.mjs; fi

fmt: need ## format the Go code
	@gofmt -l -w fleet widgets

clean: ## remove what the set-up made (your work in lab/ stays)
	@rm -rf .venv .cache artifacts notebooks/tests/browser/node_modules

need:
	@PYTHON="$(PYTHON)" sh notebooks/setup/need.sh
