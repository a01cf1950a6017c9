#!/bin/sh
# Runs the SQLite suite on each supported pair of Python and Django that this machine has, or on those named: 3.13:6.0
# Environments stay in var/matrix.
set -u

pairs=${*:-3.11:5.2 3.13:6.0}
failed=0
ran=0

find_python() {
    if "python$1" -c '' 2>/dev/null; then
        command -v "python$1"
    elif command -v pyenv >/dev/null; then
        prefix=$(pyenv prefix "$1" 2>/dev/null) && echo "$prefix/bin/python"
    fi
}

for pair in $pairs; do
    version=${pair%%:*} django=${pair##*:}
    python=$(find_python "$version")
    if [ -z "$python" ]; then
        echo "Python $version is not there: left out"
        continue
    fi
    environment=var/matrix/python$version-django$django
    mkdir -p var/matrix
    echo "== Python $version, Django $django"
    # The pins belong to the oldest pair; Django itself and what follows it are free here.
    grep -viE '^django' constraints.txt > "$environment.txt"
    [ -x "$environment/bin/python" ] || "$python" -m venv "$environment"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check \
        --constraint "$environment.txt" "Django~=$django.0" --editable '.[postgres,dev]' &&
        "$environment/bin/python" -m pytest -q -m 'not demo and not browser' || failed=1
    ran=$((ran + 1))
done

[ "$ran" -gt 0 ] || { echo "None of the supported Pythons is there" >&2; exit 1; }
exit "$failed"
