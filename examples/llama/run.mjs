// All steps on loopback, in about two minutes: a model, two servers and a gateway in front of them; a profile of the
// servers is fitted to the traffic that the gateway records, and its prediction for other traffic is compared with measurements.
//
//   node run.mjs [--rate 5] [--requests 120]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({
  options: { rate: { type: 'string', default: '5' }, requests: { type: 'string', default: '120' } },
});
process.chdir(fileURLToPath(new URL('.', import.meta.url)));

const TWINYARD = '../../dist/cli/main.js';
const PORTS = [9711, 9712];
const GATEWAY = 'http://127.0.0.1:9710';
/** Settings that the servers do not report: requests and tokens in a step, and memory for 8 x 1024 tokens. */
const SETTINGS = '--hardware CPU-CORE --tp 1 --max-num-seqs 8 --max-num-batched-tokens 256 --total-kv-blocks 512';
const CATALOGUE = '--model-config-folder . --hardware-config cpu.json';
const ROUTING = '--routing-policy least-loaded';

const children = [];
let isOver = false;

/** Stops all processes; only the first problem is reported. */
function finish(problem) {
  if (isOver) return;
  isOver = true;
  for (const child of children) child.kill('SIGTERM');
  if (problem === undefined) return;
  console.error(problem);
  process.exitCode = 1;
}

function start(script, line, stdout = 'inherit') {
  const args = line.split(' ').filter((word) => word !== '');
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', stdout, 'inherit'] });
  children.push(child);
  return child;
}

async function ended(child, name) {
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${name} ended with exit code ${code}`);
}

/** Starts a process that must run until the end. */
function keep(script, line) {
  start(script, line).once('exit', (code) => finish(`${script} ended with exit code ${code}`));
}

/** Prints a command and runs it to its end. */
async function twinyard(line, stdout) {
  console.log(`\n$ twinyard ${line}\n`);
  await ended(start(TWINYARD, line, stdout), `twinyard ${line.split(' ')[0]}`);
}

async function untilReady(url) {
  for (let tries = 0; tries < 300; tries++) {
    await sleep(100);
    if (isOver) break;
    const response = await fetch(url, { signal: AbortSignal.timeout(1000) }).catch(() => null);
    if (response?.ok) return;
  }
  throw new Error(`${url} is not ready in time`);
}

function observe(name, seed, requests) {
  const load = `--workload-spec load.yaml --rate ${flags.rate} --num-requests ${requests} --seed ${seed}`;
  const how = '--warmup-requests 10 --max-lateness-ms 0 --format table';
  return twinyard(
    `observe --server-url ${GATEWAY} --model noise ${load} ${SETTINGS} ${how} --trace-output out/${name}`,
  );
}

/** Compares a trace with the replay; the two sides of each measure. */
async function compare(name) {
  const files = `--trace out/${name} --sim-results out/results.json --report out/${name}.json`;
  await twinyard(`calibrate ${files} --format table`, name === 'second' ? 'inherit' : 'ignore');
  const { metrics } = JSON.parse(readFileSync(`out/${name}.json`, 'utf8'));
  return (metric, figure) => metrics[metric].workload_level[figure] / 1000;
}

/** Prediction against measurement, and a second measurement of the same load: the noise of the machine. */
function printErrors(once, again) {
  const rows = ['ttft', 'itl', 'e2e'].flatMap((metric) =>
    ['mean', 'p99'].map((level) => {
      const measured = once(metric, `real_${level}`);
      const predicted = once(metric, `sim_${level}`);
      const repeated = again(metric, `real_${level}`);
      const off = (value) => `${(100 * (value / measured - 1)).toFixed(1)} %`;
      const ms = [measured, predicted, repeated].map((value) => value.toFixed(2));
      return [`${metric} ${level}`, ms[0], ms[1], off(predicted), ms[2], off(repeated)];
    }),
  );
  const names = ['ms', 'measured', 'predicted', 'off by', 'measured again', 'off by'];
  console.log();
  for (const row of [names, ...rows]) console.log(row.map((cell) => cell.padStart(16)).join(''));
}

async function main() {
  if (!existsSync(TWINYARD)) throw new Error("twinyard is not built: 'npm ci' and 'npm run build' two folders up");
  rmSync('out', { recursive: true, force: true });
  mkdirSync('out');
  await ended(start('make-model.mjs', ''), 'make-model.mjs');
  for (const port of PORTS) keep('server.mjs', `--port ${port}`);
  await Promise.all(PORTS.map((port) => untilReady(`http://127.0.0.1:${port}/health`)));
  const replicas = PORTS.map((port) => `--replica http://127.0.0.1:${port}`).join(' ');
  const gateway = `serve ${replicas} --engine llama-cpp ${ROUTING} --port 9710 --admin-port 9709 --record out/traffic.jsonl`;
  console.log(`\n$ twinyard ${gateway} &\n`);
  keep(TWINYARD, gateway);
  await untilReady(`${GATEWAY}/ready`);

  const requests = Number(flags.requests);
  await observe('first', 1, 2 * requests);
  const engine = `--model noise ${SETTINGS} ${CATALOGUE} --max-model-len 1024 --engine-rules vllm-v1`;
  await twinyard(`calibrate --fit --trace out/traffic.jsonl ${engine} -o out/noise.json --format table`);
  await observe('second', 2, requests);
  await observe('again', 2, requests);
  const profile = `--latency-profile out/noise.json ${CATALOGUE}`;
  await twinyard(
    `replay --trace out/second --num-instances 2 ${ROUTING} ${profile} --results-path out/results.json`,
    'ignore',
  );
  printErrors(await compare('second'), await compare('again'));
}

process.on('SIGINT', () => finish('interrupted'));
process.on('SIGTERM', () => finish('interrupted'));
main().then(
  () => finish(),
  ({ message }) => finish(message),
);
