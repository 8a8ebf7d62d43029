#!/usr/bin/env bash
# Sets everything up and runs the tests; arguments go to pytest.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../examples/setup.sh"

# What some tests compare with; where it is not to be had, they are skipped.
install_peers() {
    local missing=()
    command -v sysbench >/dev/null || missing+=(sysbench)
    PATH=$SERVER_PATH command -v mkfs.btrfs >/dev/null || missing+=(btrfs-progs)
    if [ ${#missing[@]} -gt 0 ] && can_install; then
        install_by_apt "${missing[@]}" || echo "some tests will be skipped"
    fi
}

setup "[test]"
install_peers
cd "$ROOT"
exec "$VENV_PYTHON" -m pytest "$@"
