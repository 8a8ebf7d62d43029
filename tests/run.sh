#!/usr/bin/env bash
# Sets everything up and runs the tests; arguments go to pytest.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../examples/setup.sh"

setup "[test]"
cd "$ROOT"
exec "$VENV_PYTHON" -m pytest "$@"
