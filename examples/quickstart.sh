#!/usr/bin/env bash
# From a fresh machine to a first comparison: sets everything up, then runs first_study.py.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

setup ""
cd "$ROOT"
exec "$VENV_PYTHON" examples/first_study.py
