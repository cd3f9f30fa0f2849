#!/bin/sh
# setup.sh [LIST]: installs the packages of LIST (packages.txt) that are missing; prints their names, or the command for an administrator.
set -eu
cd "$(dirname "$0")/.."
list=${1:-packages.txt}

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    echo "kasane: this system has no apt-get; install what $list names by its own means, then: cmake --preset cpu" >&2
    exit 1
fi

missing=""
for package in $(sed 's/#.*//' "$list"); do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [ "$status" = "install ok installed" ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
    echo "kasane: all packages of $list are installed"
    exit 0
fi

echo "kasane: installing$missing"
if [ "$(id -u)" = 0 ]; then
    as_root=""
elif command -v sudo >/dev/null 2>&1; then
    as_root="sudo"
else
    echo "kasane: these packages are missing and this user can neither be root nor sudo; ask an administrator to run:" >&2
    echo "    apt-get install$missing" >&2
    exit 1
fi
# shellcheck disable=SC2086  # words are wanted
if ! { $as_root apt-get update -q && DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -q --no-install-recommends $missing; }; then
    echo "kasane: apt-get could not install:$missing (is the distribution's package archive reachable?)" >&2
    exit 1
fi
