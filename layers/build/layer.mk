# How `sam build` makes the layers (BuildMethod: makefile), on any host and without Docker: pip fetches wheels
# for the architecture and the Python of Lambda, whatever the Python that runs it.
#
#   MACHINE       aarch64 or x86_64; set by the Makefile that includes this file (see ../README.md)
#   ARTIFACTS_DIR where the layer is to lie; set by SAM, which runs us in a copy of the layer's folder
#   LOCAL_BUILD   "native" takes wheels for the Python that runs pip instead: for the local emulator,
#                 which runs handlers on that Python
#   PYTHON        the Python that runs pip, for example that of the emulator's environment

layers := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))..)
include $(layers)/build/python.mk

PYTHON_VERSION := 3.13
# Lambda's Python 3.13 runs on Amazon Linux 2023 (glibc 2.34), so both generations of manylinux do.
TARGET := --platform manylinux2014_$(MACHINE) --platform manylinux_2_28_$(MACHINE) \
  --implementation cp --python-version $(PYTHON_VERSION)
ifeq ($(LOCAL_BUILD),native)
TARGET :=
endif

fail = { echo "$(1)" >&2; exit 1; }

# Every line of these runs in a shell of its own: the make of macOS knows no .ONESHELL.
define need_python
[ -n "$(python)" ] || $(call fail,a Python >= 3.11 is needed to build the layers and none was found on the PATH)
endef

define install
$(need_python)
$(python) -m pip --version >/dev/null 2>&1 || $(call fail,$(python) has no pip$(comma) which builds the layers: run make build$(comma) or install pip)
mkdir -p "$(ARTIFACTS_DIR)/python"
PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 $(python) -m pip install --quiet --disable-pip-version-check --no-input --no-warn-script-location \
  --root-user-action ignore --no-compile --no-deps --only-binary=:all: --require-hashes $(TARGET) \
  --requirement requirements.txt --target "$(ARTIFACTS_DIR)/python" >&2 \
  || $(call fail,the packages of this layer could not be fetched (the reason is above): is the package index reachable?)
rm -rf "$(ARTIFACTS_DIR)/python/bin"
endef

# Layers lie on a file system that nobody writes to: without bytecode in them, every cold start compiles all that
# it imports, which takes longer than everything else in it. Bytecode fits one version of Python only. It is not
# compared with the sources (unchecked-hash: their times change when they are packed), and names them by where
# they will lie.
bytecode_python := $(python)
ifneq ($(LOCAL_BUILD),native)
bytecode_python := $(firstword $(foreach name,$(python) python$(PYTHON_VERSION),$(if $(shell $(name) -c \
  'import sys; sys.version_info[:2] == tuple(map(int, "$(PYTHON_VERSION)".split("."))) and print("yes")' 2>/dev/null),$(name))))
endif

define compile
find "$(ARTIFACTS_DIR)/python" -name __pycache__ -type d -prune -exec rm -rf {} +
[ -n "$(bytecode_python)" ] || echo "No Python $(PYTHON_VERSION) on the PATH: this layer is built without bytecode, and cold starts take about twice as long" >&2
[ -z "$(bytecode_python)" ] || PYTHONHASHSEED=0 $(bytecode_python) -m compileall -q -j 0 --invalidation-mode unchecked-hash \
  -s "$(ARTIFACTS_DIR)" -p /opt "$(ARTIFACTS_DIR)/python" >&2 || $(call fail,the sources of this layer could not be compiled)
endef

comma := ,

.PHONY: build-CoreLayer build-ModelSdkLayer build-AgentsLayer

build-CoreLayer:
	@$(install)
	@$(python) "$(layers)/build/slim.py" "$(ARTIFACTS_DIR)/python" || $(call fail,botocore could not be slimmed)
	@cp -R whatsapp_agent "$(ARTIFACTS_DIR)/python/"
	@$(compile)

build-ModelSdkLayer:
	@$(install)
	@$(compile)

# Agents are read where they lie first, so that a mistake is an error here and not at the first message.
build-AgentsLayer:
	@$(need_python)
	@PYTHONPATH="$(layers)/core" PYTHONDONTWRITEBYTECODE=1 $(python) "$(layers)/build/check_agents.py" .
	@mkdir -p "$(ARTIFACTS_DIR)/python/agent_profiles"
	@for agent in */agent.toml; do cp -R "$$(dirname "$$agent")" "$(ARTIFACTS_DIR)/python/agent_profiles/" || exit 1; done
