#!/usr/bin/env bash
# Gradescope runs this once, when it builds the image: it finds a Python, and unpacks the wheels.
set -eu
root="${AUTOGRADER_ROOT:-/autograder}"
cd "$root/source"

fits() {
  command -v "$1" > /dev/null &&
    "$1" -I -c 'import sys; sys.exit(sys.version_info < (%(oldest)s))' 2> /dev/null
}

python=""
for each in %(known)s; do
  if [ -z "$python" ] && fits "$each"; then python="$(command -v "$each")"; fi
done
if [ -z "$python" ]; then
  echo "There is no Python %(needed)s or newer here: it is fetched from the network."
  apt-get update -q
  for each in %(fetched)s; do
    if [ -z "$python" ] && apt-get install -y -q "$each" && fits "$each"; then
      python="$(command -v "$each")"
    fi
  done
fi
if [ -z "$python" ]; then
  echo "There is no Python %(needed)s or newer: choose a newer image in Gradescope's settings."
  exit 1
fi
"$python" -I unpack.py
printf '%%s' "$python" > python
echo "attncalc is set up."
