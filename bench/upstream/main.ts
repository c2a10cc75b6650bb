import { execFileSync, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { BenchTable } from '../bench-table.js';

/**
 * The gateway's own HTTP client against undici, on the same fast backend: processor time per request and the wait of the slowest
 * in a hundred, 32 requests at once, rounds taken in turn. Arguments: rounds, and requests of each.
 */
const [rounds = 5, requests = 20_000] = process.argv.slice(2).map(Number);
const PORT = 9801;
const CLIENTS = ['undici', 'own'] as const;
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

interface Cost {
  cpuUs: number;
  /** Of that, outside of the kernel. */
  userUs: number;
  p99Ms: number;
}

function cost(client: string, kind: string): Cost {
  const args = [here('./one-client.js'), client, String(PORT), kind, String(requests)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Cost;
}

/** The lower quartile: what others do on the machine only ever adds. */
function typical(costs: readonly Cost[], value: (cost: Cost) => number): number {
  return costs.map(value).sort((a, b) => a - b)[costs.length >> 2]!;
}

const backend = spawn(process.execPath, [here('../gateway/fast-backend.js'), String(PORT)], { stdio: 'ignore' });
try {
  while ((await fetch(`http://127.0.0.1:${PORT}/v1/models`).catch(() => null)) === null);
  const table = new BenchTable();
  for (const kind of ['plain', 'streamed']) {
    const costs: Record<(typeof CLIENTS)[number], Cost[]> = { undici: [], own: [] };
    for (let round = 0; round < rounds; round++) {
      for (const client of CLIENTS) costs[client].push(cost(client, kind));
    }
    const compare = (what: string, unit: string, value: (cost: Cost) => number, most: number | null) => {
      const [theirs, ours] = [typical(costs.undici, value), typical(costs.own, value)];
      table.report(
        `${kind}: ${what}`,
        `undici ${theirs.toFixed(2)} ${unit}, own ${ours.toFixed(2)} ${unit}: ${(ours / theirs).toFixed(2)} x`,
        most === null ? '' : `<= ${most} x`,
        most === null ? null : ours <= theirs * most,
      );
    };
    const isPlain = kind === 'plain';
    compare('processor time', 'us', ({ cpuUs }) => cpuUs, isPlain ? 0.85 : 0.95);
    compare('of that outside of the kernel', 'us', ({ userUs }) => userUs, 0.75);
    // Streams are as slow as the backend makes them.
    compare('p99', 'ms', ({ p99Ms }) => p99Ms, isPlain ? 1 : null);
  }
  table.print();
} finally {
  backend.kill('SIGTERM');
}
