#!/usr/bin/env bash
# docs.sh: renders the reference of the public headers (those that are installed) with Doxygen, into build/docs/html, and with Sphinx the site
# of all pages and of the Python package, into build/docs/site. A public name without a comment and a link without a target are errors.
# Nothing is read from the network.
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
printf 'include(cmake/KasaneVersion.cmake)\nmessage(NOTICE ${KASANE_VERSION})\n' > build/docs/version.cmake
version=$(cmake -P build/docs/version.cmake 2>&1)
{
    cat cmake/Doxyfile
    printf 'PROJECT_NUMBER = %s\n' "$version"
    printf 'INPUT = docs/cpp.md %s\n' "$(sed 's/^/src\//' $headers | tr '\n' ' ')"
} > build/docs/Doxyfile
doxygen build/docs/Doxyfile
# Doxygen 1.9.4 links a section of nested classes where it writes none.
grep -L 'name="nested-classes"' build/docs/html/*.html | xargs sed -i 's/<a href="#nested-classes">Classes<\/a>\( &#124;\)\?//'

# Sphinx reads copies, at the places that their links expect.
site=build/docs/site
rm -rf $site build/docs/pages
mkdir -p $site build/docs/pages/python build/docs/pages/static build/docs/pages/extra/cpp
cp -r ./*.md CITATION.cff LICENSE CMakeLists.txt docs examples models packaging cmake/site/python-api.rst cmake/site/cpp-api.md build/docs/pages
cp -r python/kasane build/docs/pages/python
python3 cmake/site/notebooks.py build/docs/pages/docs/tutorials
sed -i 's/(\(tutorials\/[a-z-]*\)\.ipynb)/(\1.md)/g' build/docs/pages/docs/*.md
python3 cmake/site/records.py bench/results > build/docs/pages/records.md
cat cmake/site/contents.md >> build/docs/pages/README.md
cp cmake/site/site.css build/docs/pages/static
cp -r build/docs/html/. build/docs/pages/extra/cpp
echo '<!DOCTYPE html><meta http-equiv="refresh" content="0; url=README.html"><title>kasane</title>' > build/docs/pages/extra/index.html
# The docstrings of the extension are in the stub of the newest build of the Python package.
stub=$(find build -path build/docs -prune -o -name _core.pyi -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2-)
if [ -n "$stub" ]; then
    { echo 'from __future__ import annotations'; cat "$stub"; } > build/docs/pages/python/kasane/_core.py
else
    echo "docs: no build of the Python package was found (make test-python makes one): its reference lacks the classes of the extension"
    sed -i '/^.. autofunction:: extension /d' build/docs/pages/python-api.rst
fi
sed -i 's/:: extension /:: /' build/docs/pages/python-api.rst
KASANE_VERSION=$version KASANE_SITE_SOURCE=$PWD/build/docs/pages sphinx-build -q -W --keep-going -n -b html -c cmake/site build/docs/pages $site
# Debian's furo imports normalize.css from a web server's directory: its text takes the place of the import.
normalize=/usr/share/javascript/normalize.css/normalize.css
if [ -e $normalize ]; then
    sed -i -e "/@import url(\/javascript\/normalize.css/{r $normalize" -e 'd}' $site/_static/styles/furo.css
fi
# Debian's furo loads a module as a classic script, which browsers refuse, so that the switch between light and dark would do nothing.
scripts=$site/_static/scripts
if grep -q '^import Gumshoe' $scripts/furo.js; then
    { cat $scripts/gumshoe-patched.js; sed '/^import Gumshoe/d' $scripts/furo.js; } > $scripts/furo.js.new
    mv $scripts/furo.js.new $scripts/furo.js
fi
python3 cmake/site/links.py $site
echo "docs: $site/index.html, build/docs/html/index.html"
