#!/usr/bin/env sh
# Replays one trace under five routing set-ups and prints what differs between them.
# Takes `twinyard` from the PATH, else the program built in this repository. Stops at the first command that fails:
# nothing runs in a pipe, which would hide that.
set -eu
cd "$(dirname "$0")/.."

if command -v twinyard >/dev/null; then
  run() { twinyard "$@"; }
elif [ -f dist/cli/main.js ]; then
  run() { node dist/cli/main.js "$@"; }
else
  echo "twinyard is not on the PATH and not built here; run 'npm ci' and 'npm run build' first" >&2
  exit 1
fi

compare() {
  name=$1
  shift
  result=$(run replay --trace examples/assistants --model qwen/qwen3-14b --num-instances 4 \
    --trace-level decisions --summarize-trace "$@")
  node -e '
    const { cluster, decisions } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
    const cells = [
      process.argv[1].padEnd(42),
      cluster.ttft_p99_ms.toFixed(1).padStart(9),
      `${(cluster.prompt_cache_hit_rate * 100).toFixed(1)} %`.padStart(8),
      cluster.tokens_per_sec.toFixed(0).padStart(9),
      `  ${Object.values(decisions.targets).join(" ")}`,
    ];
    console.log(cells.join(""));
  ' "$name" <<EOF
$result
EOF
}

printf '%-42s%9s%8s%9s  %s\n' 'routing' 'TTFT p99' 'cached' 'tokens/s' 'requests per instance'
compare 'round-robin' --routing-policy round-robin
compare 'least-loaded' --routing-policy least-loaded
compare 'weighted, queue-depth alone' --routing-policy weighted --routing-scorers queue-depth:1
compare 'weighted, prefix-affinity:3,queue-depth:1' --routing-policy weighted --routing-scorers prefix-affinity:3,queue-depth:1
compare 'weighted, defaults' --routing-policy weighted
