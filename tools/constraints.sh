#!/bin/sh
# Resolves the project in a fresh environment, unpinned, and writes the versions that came out into constraints.txt.
set -eu

python=$(sh "$(dirname "$0")/find-python.sh")
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

"$python" -m venv "$fresh"
"$fresh/bin/python" -m pip install --quiet --disable-pip-version-check --editable '.[postgres,dev]'
{
    echo "# What \"make env\" installs; written by \"make constraints\"."
    "$fresh/bin/python" -m pip freeze --exclude-editable
} > constraints.txt
echo "constraints.txt: $(grep -c == constraints.txt) packages"
