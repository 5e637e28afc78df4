# python: a Python >= 3.11 that runs, or nothing. `make PYTHON=…` chooses another one.
# (A name can be on the PATH and yet not run: version managers put shims there.)
python := $(firstword $(foreach name,$(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11),$(if $(shell \
  $(name) -c 'import sys; sys.version_info >= (3, 11) and print("yes")' 2>/dev/null),$(name))))
