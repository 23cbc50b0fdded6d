#!/usr/bin/env bash
# Gradescope runs this for each submission: it marks, and writes results.json whatever happens.
root="${AUTOGRADER_ROOT:-/autograder}"
results="$root/results/results.json"
mkdir -p "$root/results"
rm -f "$results"
"$(cat "$root/source/python")" -I "$root/source/grade.py" "$root"
if [ ! -s "$results" ]; then
  cat > "$results" << 'END'
{"score": 0, "output": %(ended)s, "tests": []}
END
fi
exit 0
