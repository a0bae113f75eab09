#!/bin/sh
# Creates the virtual environment and installs the locked packages into it. Called by `make setup`.
set -eu
venv=$1
python=${PYTHON:-python3}

fail() { printf 'setup: %s\n' "$1" >&2; exit 2; }

command -v "$python" >/dev/null 2>&1 || fail "$python not found; Python 3.11 or newer is needed (PYTHON=/path/to/python make setup)"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  fail "$("$python" --version 2>&1) is too old; Python 3.11 or newer is needed (PYTHON=/path/to/python make setup)"
"$python" - <<'CHECK' || fail "only Linux with glibc 2.31 or newer is supported (WSL2 included): Envoy comes as such a binary"
import platform, sys
name, version = platform.libc_ver()
sys.exit(not (sys.platform == "linux" and name == "glibc" and tuple(map(int, version.split(".")[:2])) >= (2, 31)))
CHECK
"$python" -c 'import ensurepip, venv' 2>/dev/null || fail "the venv module is missing (on Debian: apt-get install python3-venv)"

started=$(date +%s)
count=$(grep -c '==' requirements.lock)
echo "setup: creating $venv with $("$python" --version 2>&1)"
"$python" -m venv --clear "$venv"
echo "setup: installing $count locked packages (about 600 MB, a minute on a fast line)"
if [ -t 1 ]; then bar=on; else bar=off; fi
"$venv/bin/python" -m pip install --disable-pip-version-check --require-hashes --no-deps --progress-bar off -r requirements.lock |
  awk -v total="$count" -v tty="$bar" '
    function show(text) { if (tty == "on") printf "\r\033[K%s", text; else print text; fflush() }
    /^Collecting |^Requirement already/ { n++; show(sprintf("setup: %d/%d %s", n, total, $2)); next }
    /^Installing collected/ { show("setup: unpacking"); next }
    /^ERROR/ { print }
    /^Successfully/ { ok = 1 }
    END { if (tty == "on") print ""; exit !ok }' || fail "pip could not install the locked packages (see above)"
ln -sf ../../mmserve "$venv/bin/mmserve"
touch "$venv/.installed"
echo "setup: done in $(($(date +%s) - started)) s"
