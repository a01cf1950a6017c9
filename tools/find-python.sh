#!/bin/sh
# Prints a Python (>= 3.11) that can make virtual environments; says what is missing otherwise. PYTHON=… chooses one.

usable='import sys; sys.exit(sys.version_info < (3, 11))'
complete='import venv, ensurepip'
incomplete=

for python in ${PYTHON:-python3 python3.13 python3.12 python3.11 python}; do
    "$python" -c "$usable" >/dev/null 2>&1 || continue
    if "$python" -c "$complete" >/dev/null 2>&1; then
        echo "$python"
        exit 0
    fi
    incomplete=$python
done

if [ -n "$incomplete" ]; then
    echo "$incomplete cannot make virtual environments (its venv or ensurepip module is missing)." >&2
    echo "On Debian and Ubuntu: apt-get install python3-venv" >&2
else
    echo "No Python from 3.11 on was found${PYTHON:+ as $PYTHON}. Install one, or name it: make env PYTHON=/path/to/python3" >&2
fi
exit 1
