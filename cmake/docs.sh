#!/usr/bin/env bash
# docs.sh: renders the reference of the public headers (those that are installed) with Doxygen, into build/docs/html. A public name without
# a comment is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
headers=build/docs/public_headers.txt
mkdir -p build/docs
# The headers of src/kasane/*.hpp and what they include, until nothing is new.
(cd src && ls kasane/*.hpp) > $headers
while :; do
    (cd src && xargs -a ../$headers sed -n 's/^#include <\(kasane\/[^>]*\)>.*/\1/p' | while read -r h; do [ -e "$h" ] && echo "$h"; done) |
        sort -u - $headers > $headers.new
    cmp -s $headers $headers.new && break
    mv $headers.new $headers
done
rm -f $headers.new
{
    cat cmake/Doxyfile
    printf 'PROJECT_NUMBER = %s\n' "$(sed -n 's/^project(kasane VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)"
    printf 'INPUT = docs/cpp.md %s\n' "$(sed 's/^/src\//' $headers | tr '\n' ' ')"
} > build/docs/Doxyfile
doxygen build/docs/Doxyfile
echo "docs: build/docs/html/index.html"
