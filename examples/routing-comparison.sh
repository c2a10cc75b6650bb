#!/usr/bin/env sh
# Five routing configurations under the same burst of 1,000 requests, with five seeds: TTFT p99, throughput, requests per replica.
# Accepts other flags of `twinyard compare`, such as `--report routing.html`.
# Takes `twinyard` from the PATH, else the program built in this repository.
set -eu

here=$(dirname "$0")
if command -v twinyard >/dev/null; then
  exec twinyard compare --preset routing --format table "$@"
elif [ -f "$here/../dist/cli/main.js" ]; then
  exec node "$here/../dist/cli/main.js" compare --preset routing --format table "$@"
else
  echo "twinyard is not on the PATH and not built here; run 'npm ci' and 'npm run build' first" >&2
  exit 1
fi
