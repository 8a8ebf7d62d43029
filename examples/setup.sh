# The set-up that quickstart.sh and tests/run.sh share; sourced, not run.
#
#   setup EXTRAS    makes sure of the system packages, of .venv, and of a build of these sources
#                   with the named extras ("" or "[test]"); leaves the interpreter in $VENV_PYTHON
#
# What is there already is left alone: a second call takes a second and needs no root. Nothing
# outside the repository is touched but by the system's package manager, and only as root.

set -euo pipefail
export LC_ALL=C.UTF-8

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
VENV=$ROOT/.venv
VENV_PYTHON=$VENV/bin/python
SERVER_PATH=$PATH:/usr/local/sbin:/usr/sbin:/usr/libexec # where servers are, if not on PATH

setup() {
    local extras=$1
    install_packages
    make_venv
    build "$extras"
}

# Print the first Python that is new enough, and able to make environments and build extensions.
find_python() {
    local candidate
    for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
        if "$candidate" - 2>/dev/null <<'PYTHON'; then
import ensurepip, pathlib, sys, sysconfig, venv
header = pathlib.Path(sysconfig.get_path("include"), "Python.h")
sys.exit(sys.version_info < (3, 11) or not header.is_file())
PYTHON
            echo "$candidate"
            return
        fi
    done
    return 1
}

# Print what is missing, as "what-for:Debian packages:Fedora packages", one line each.
missing_packages() {
    command -v gcc >/dev/null && command -v make >/dev/null ||
        echo "a C compiler:build-essential:gcc make"
    find_python >/dev/null ||
        echo "Python 3.11 or later:python3 python3-venv python3-dev:python3.12 python3.12-devel"
    command -v pkg-config >/dev/null || echo "pkg-config:pkg-config:pkgconf-pkg-config"
    pkg-config --exists libmariadb 2>/dev/null ||
        echo "libmariadb:libmariadb-dev:mariadb-connector-c-devel"
    pkg-config --exists gsl 2>/dev/null || echo "GSL:libgsl-dev:gsl-devel"
    PATH=$SERVER_PATH command -v mariadbd mysqld >/dev/null ||
        echo "a MariaDB server:mariadb-server-core mariadb-client-core:mariadb-server"
}

can_install() {
    [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null
}

install_by_apt() {
    echo "installing $*"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null
}

# Install the missing system packages with apt where that is possible, else say which they are.
# The -core packages hold the server's binaries only: no service is set up or started.
install_packages() {
    local missing debian fedora
    missing=$(missing_packages)
    [ -n "$missing" ] || return 0
    debian=$(cut -d: -f2 <<<"$missing" | paste -sd ' ')
    fedora=$(cut -d: -f3 <<<"$missing" | paste -sd ' ')
    if can_install; then
        # shellcheck disable=SC2086 # a list of packages
        install_by_apt $debian
        missing=$(missing_packages)
        [ -n "$missing" ] || return 0
    fi
    {
        echo "benchkit needs, and does not find, $(cut -d: -f1 <<<"$missing" | paste -sd ,). Install:"
        echo "  Debian 12, Ubuntu 24.04 or later:  apt-get install $debian"
        echo "  Fedora, RHEL 9 or later:           dnf install $fedora"
    } >&2
    exit 1
}

make_venv() {
    local python
    if ! "$VENV_PYTHON" -m pip --version >/dev/null 2>&1; then
        python=$(find_python)
        echo "making .venv with $("$python" --version)"
        "$python" -m venv --clear "$VENV"
    fi
}

# Print a hash of all that an installed build depends on.
fingerprint() {
    (
        cd "$ROOT"
        echo "$ROOT"
        "$VENV_PYTHON" --version
        cat setup.py pyproject.toml csrc/*.[ch]
    ) | sha256sum
}

# Build and install in place, unless these sources are installed with these extras already.
build() {
    local extras=$1 stamp=$VENV/built$1 now
    now=$(fingerprint)
    if [ "$(cat "$stamp" 2>/dev/null)" != "$now" ]; then
        echo "building benchkit (a minute or two the first time)"
        rm -f "$VENV"/built*
        "$VENV_PYTHON" -m pip install --quiet --editable "$ROOT$extras"
        echo "$now" | tee "$VENV/built" >"$stamp"
    fi
}
