#!/usr/bin/env bash
# check.sh changed|all: format of every file, then clang-tidy on the C++ files that differ from BASE (HEAD~1), or on all files.
# Exit status 1 when a file must change; the list says which.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/check

git ls-files -co --exclude-standard -- '*.cpp' '*.hpp' '*.cu' | xargs -P "$(nproc)" -n 50 clang-format-19 --dry-run --Werror ||
    { echo "check: format these files with: clang-format-19 -i FILE" >&2; exit 1; }
echo "check: every file is formatted"

base=${BASE:-$(git rev-parse --verify --quiet HEAD~1 || git hash-object -t tree /dev/null)}
mapfile -t changed < <(git diff --name-only --diff-filter=d "$base" -- 'src/*.cpp' 'app/*.cpp' 'bench/*.cpp' 'test/*.cpp' ':!test/fuzz' ':!test/package')
# A few changed files one by one; all files, or many, as the build compiles them: the files of a folder together.
what=$1 unity=OFF
[ ${#changed[@]} -le 60 ] || what=all
[ "$what" = changed ] || unity=ON
cmake -S . -B $build -G Ninja --log-level=WARNING -DKASANE_CUDA=OFF -DKASANE_UNITY=$unity -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
if [ "$what" = all ]; then
    run-clang-tidy-19 -quiet -p $build -j "$(nproc)" > $build/tidy.log 2>&1 || { grep -E -A4 'error:' $build/tidy.log; exit 1; }
    echo "check: clang-tidy has no remark on any file"
    exit 0
fi
echo "check: clang-tidy on ${#changed[@]} changed files"
[ ${#changed[@]} -eq 0 ] || printf '%s\n' "${changed[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy-19 --quiet -p $build
