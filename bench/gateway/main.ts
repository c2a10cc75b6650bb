import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestPostgres } from '../../src/store/postgres.fixture.js';
import { BenchTable } from '../bench-table.js';
import { besideRows, longRows, processorRows, type Rival, worstRows } from './body-rows.js';
import { benchPostgres, type KeptPair, keptConfig, keptRows } from './kept-rows.js';
import { type Load, loaded, median } from './measure.js';
import { shadowRows } from './shadow-rows.js';
import { wrkScript } from './wrk-script.js';

/**
 * The gateway with prefix-aware weighted routing, and once more with keys, limits, usage and flow control on top,
 * against other routers, nginx and a bare proxy: the same four backends, the same minute, rounds taken in turn. Rivals
 * are used where they are installed: `wrk` and `nginx` on the path, `vllm-router` and `smg` in the folder that ROUTERS
 * names (`pip install vllm-router smg` into a throw-away environment). Arguments: rounds, seconds of each, and which rows
 * (all by default). Tails differ from round to round by a fifth: it takes many rounds to separate two routers.
 */
const ROWS = ['plain', 'streamed', 'one', 'processor', 'long', 'beside', 'worst', 'shadow', 'kept'];
const [rounds = 9, secondsLong = 2] = process.argv.slice(2, 4).map(Number);
const chosen = process.argv.length > 4 ? process.argv.slice(4) : ROWS;
const unknown = chosen.filter((row) => !ROWS.includes(row));
if (unknown.length > 0 || !(rounds > 0 && secondsLong > 0)) {
  process.stderr.write(`usage: bench:gateway -- [rounds [seconds [rows]]], rows: ${ROWS.join(', ')}\n`);
  process.exit(1);
}
const root = fileURLToPath(new URL('../../../', import.meta.url));
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'twinyard-bench-'));
const BACKENDS = [9101, 9102, 9103, 9104];
const urls = BACKENDS.map((port) => `http://127.0.0.1:${port}`);
const started: ChildProcess[] = [];
/** The end of what they printed. */
const printed = new Map<ChildProcess, string>();
let postgres: TestPostgres | null = null;

/** Starts a process and waits until its port accepts connections. */
async function start(port: number, command: string, args: readonly string[]): Promise<number> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder });
  child.stderr!.on('data', (bytes) => printed.set(child, `${printed.get(child) ?? ''}${bytes}`.slice(-4096)));
  started.push(child);
  for (let tries = 0; tries < 600; tries++) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/models`).catch(() => null);
    if (response !== null) return child.pid!;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${command} does not answer on port ${port}`);
}

/** The admin token that a gateway prints once it serves. */
async function tokenOf(gateway: ChildProcess): Promise<string> {
  for (let tries = 0; tries < 600; tries++) {
    const [, token] = /token (\S+)\n/.exec(printed.get(gateway) ?? '') ?? [];
    if (token !== undefined) return token;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the gateway has not printed its admin token');
}

function has(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).error === undefined;
}

/** A gateway configuration with every check a request can go through, and a key with wide limits. */
function allOn(): { config: string; key: string } {
  const config = join(folder, 'twinyard.yaml');
  const replicas = urls.map((url) => `  - url: ${url}`).join('\n');
  writeFileSync(
    config,
    `store: keys.db\nreplicas:\n${replicas}\nprices:\n  - { model: m, input: 0.5, output: 1.5 }
policy:\n  flow_control: { max_concurrency: 1000 }\n`,
  );
  const wide = [
    ...['requests-per-minute', 'concurrent', 'dollars-per-month'].flatMap((name) => [`--${name}`, '9000000']),
    ...['tokens-per-minute', 'tokens-per-month'].flatMap((name) => [`--${name}`, '9000000000000']),
  ];
  const args = [
    cli,
    'keys',
    'create',
    '--name',
    'bench',
    '--store',
    join(folder, 'keys.db'),
    '--format',
    'json',
    ...wide,
  ];
  return { config, key: JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })).key };
}

const cli = join(root, 'dist/bundle/main.js');
const rivals: Rival[] = [];
async function enter(name: string, port: number, command: string, args: readonly string[]): Promise<void> {
  rivals.push({ name, port, pid: await start(port, command, args) });
}

try {
  for (const port of BACKENDS) await start(port, process.execPath, [here('./fast-backend.js'), String(port)]);
  const replicas = urls.flatMap((url) => ['--replica', url]);
  await enter('twinyard', 9300, process.execPath, [
    cli,
    'serve',
    ...replicas,
    '--port',
    '9300',
    '--admin-port',
    '9301',
  ]);
  const { config, key } = allOn();
  const ports = ['--port', '9310', '--admin-port', '9311'];
  await enter('twinyard, all on', 9310, process.execPath, [cli, 'serve', '-c', config, ...ports]);
  await enter('bare proxy', 9200, process.execPath, [here('./bare-proxy.js'), '9200', ...BACKENDS.map(String)]);
  const routers = process.env.ROUTERS;
  const common = ['--host', '127.0.0.1', '--worker-urls', ...urls, '--policy', 'cache_aware'];
  if (routers !== undefined) {
    const vllm = [...common, '--port', '9500', '--prometheus-port', '9501'];
    await enter('vllm-router', 9500, join(routers, 'vllm-router'), vllm);
    const smg = ['launch', ...common, '--port', '9600', '--prometheus-port', '9601', '--model-path', 'm'];
    await enter('smg', 9600, join(routers, 'smg'), smg).catch((error: Error) =>
      process.stderr.write(`${error.message}\n`),
    );
  }
  if (has('nginx')) {
    const config = join(folder, 'nginx.conf');
    const upstream = BACKENDS.map((port) => `server 127.0.0.1:${port};`).join(' ');
    const proxy = 'proxy_pass http://b; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;';
    writeFileSync(
      config,
      `worker_processes 2; daemon off; error_log ${folder}/e; pid ${folder}/p; events { worker_connections 4096; }
http { access_log off; upstream b { ${upstream} keepalive 64; } server { listen 127.0.0.1:9400; location / { ${proxy} } } }\n`,
    );
    await enter('nginx', 9400, 'nginx', ['-c', config]);
  }

  const table = new BenchTable();
  const path = '/v1/chat/completions';
  const measured = new Map<string, Load>();
  for (const stream of [false, true].filter((one) => chosen.includes(one ? 'streamed' : 'plain'))) {
    const file = wrkScript({ folder, stream, key });
    const loads = new Map<string, Load[]>(rivals.map(({ name }) => [name, []]));
    for (let round = 0; round <= rounds; round++) {
      for (const { name, port } of rivals) {
        const load = await loaded(`http://127.0.0.1:${port}${path}`, file, 32, round === 0 ? 2 : secondsLong);
        // The first round warms up.
        if (round > 0) loads.get(name)!.push(load);
      }
    }
    const kind = stream ? 'streamed' : 'plain';
    for (const { name } of rivals) {
      const load = median(loads.get(name)!);
      measured.set(`${name} ${kind}`, load);
      const failures = load.errors > 0 ? `, ${load.errors} errors` : '';
      table.report(
        `${kind}, 32 connections: ${name}`,
        `${load.perSecond.toFixed(0)} requests/s, p99 ${load.p99Ms.toFixed(1)} ms${failures}`,
        '',
        null,
      );
    }
    const against = (ours: string, name: string, least: number) => {
      const rival = measured.get(`${name} ${kind}`);
      const own = measured.get(`${ours} ${kind}`)!;
      if (rival === undefined) return;
      const ratio = own.perSecond / rival.perSecond;
      table.report(
        `${kind}: ${ours} against ${name}`,
        `${ratio.toFixed(2)} x`,
        `>= ${least.toFixed(3)} x`,
        ratio >= least && own.errors === 0,
      );
    };
    // With all on, what holds without may be missed by a tenth.
    for (const [ours, share] of [
      ['twinyard', 1],
      ['twinyard, all on', 0.9],
    ] as const) {
      against(ours, 'vllm-router', (stream ? 1.15 : 1) * share);
      against(ours, 'bare proxy', 0.85 * share);
    }
    const ours = measured.get(`twinyard ${kind}`)!;
    const vllm = measured.get(`vllm-router ${kind}`);
    if (vllm !== undefined)
      table.report(
        `${kind}: p99 against vllm-router`,
        `${ours.p99Ms.toFixed(2)} ms, ${vllm.p99Ms.toFixed(2)} ms`,
        'no worse',
        ours.p99Ms <= vllm.p99Ms,
      );
  }
  if (chosen.includes('one')) {
    const alone = wrkScript({ folder, stream: false, key });
    const direct: Load[] = [];
    const through: Load[] = [];
    for (let round = 0; round < rounds; round++) {
      direct.push(await loaded(`${urls[0]}${path}`, alone, 1, 2));
      through.push(await loaded(`http://127.0.0.1:9300${path}`, alone, 1, 2));
    }
    const added = median(through).p50Ms - median(direct).p50Ms;
    table.report('one connection: added at the median', `${added.toFixed(2)} ms`, '<= 0.60 ms', added <= 0.6);
  }
  const compared = rivals.filter(({ name }) => ['twinyard', 'vllm-router', 'smg'].includes(name));
  if (chosen.includes('processor')) await processorRows(table, compared, { folder, key }, [rounds, secondsLong]);
  if (chosen.includes('long')) await longRows(table, compared, { folder, key }, [rounds, secondsLong]);
  if (chosen.includes('beside')) await besideRows(table, compared, { folder, key }, [rounds, secondsLong]);
  if (chosen.includes('worst')) await worstRows(table, compared[0]!);
  if (chosen.includes('shadow')) {
    // Started late: a further gateway would take time from the others.
    const args = [cli, 'serve', ...replicas, '--port', '9320', '--admin-port', '9321'];
    const pid = await start(9320, process.execPath, args);
    const token = await tokenOf(started.at(-1)!);
    await shadowRows(table, { name: 'twinyard', port: 9320, pid, token }, { folder, key }, [rounds, secondsLong]);
  }
  if (chosen.includes('kept')) {
    postgres = await benchPostgres();
    const pairs: KeptPair[] = [];
    for (const [database, port] of [
      ['SQLite', 9340],
      ['PostgreSQL', 9360],
    ] as const) {
      if (database === 'PostgreSQL' && postgres === null) continue;
      const enterKept = async (name: string, keepHours: number, at: number): Promise<Rival> => {
        const store = database === 'SQLite' ? join(folder, `${name}.db`) : await postgres!.freshUrl();
        const config = keptConfig(folder, name, urls, store, keepHours);
        const args = [cli, 'serve', '-c', config, '--port', String(at), '--admin-port', String(at + 1)];
        return { name, port: at, pid: await start(at, process.execPath, args) };
      };
      const without = await enterKept(`${database}-none`, 0, port);
      pairs.push({ database, without, kept: await enterKept(`${database}-kept`, 24, port + 10) });
    }
    await keptRows(table, pairs, { folder, key }, [rounds, secondsLong]);
  }
  table.print();
} finally {
  for (const child of started) child.kill('SIGTERM');
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}
