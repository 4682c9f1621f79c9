# The two commands are `make demo` and `make test`. Both install what is missing, and are quick when nothing is.
# scripts/prepare installs, scripts/test and scripts/demo run; docs/decisions/0006-how-tests-run.md says why it is so.

.DEFAULT_GOAL := help
.PHONY: help demo test check soak bench docs prepare

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: ## the whole story on a real browser: install, build, run
	@scripts/prepare demo
	@scripts/demo

test: ## everything: format, lints, dependencies, units, real-browser tests, compile-fail, foreign clients
	@scripts/prepare test
	@scripts/test all

check: ## format and lints alone
	@scripts/prepare build
	@scripts/test lints

soak: ## the long counts (docs/soak.md); hours rather than minutes
	@scripts/prepare test
	@scripts/test soak

bench: ## observe and click against the same calls made raw on the wire
	@scripts/prepare test
	@scripts/test bench

docs: ## write the generated documents again (schemas, codes, tool list)
	@scripts/prepare build
	@scripts/test docs

prepare: ## install what is missing and do nothing else
	@scripts/prepare test
