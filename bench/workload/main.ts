import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * How fast workloads are made, each number from a process of its own. Prints a table with the bound each figure must keep.
 * The plain generator runs here too and must give the same requests.
 */
const oneRun = fileURLToPath(new URL('./one-run.js', import.meta.url));
const runs = Number(process.argv[2] ?? 5);

interface Run {
  ms: number;
  requests: number;
  lastUs: number;
  checksum: number;
  memoryMb: number;
}

const measure = (...args: (string | number)[]): Run =>
  JSON.parse(execFileSync(process.execPath, [oneRun, ...args.map(String)], { encoding: 'utf8' }));

const rows: string[][] = [];
function report(what: string, measured: string, bound: string, holds: boolean | null): void {
  rows.push([what, measured, bound, holds === null ? '' : holds ? 'holds' : 'MISSED']);
  process.stderr.write(`${rows.at(-1)!.join(' | ')}\n`);
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(3)} s`;

// A million requests with chats whose context grows, prefix groups, bursts and long tails.
const million = Array.from({ length: runs }, () => measure('ours')).reduce((a, b) => (b.ms < a.ms ? b : a));
report(
  'generate 1,000,000 requests',
  seconds(million.ms),
  '<= 2.000 s',
  million.ms <= 2000 && million.requests === 1e6,
);
report('generate 1,000,000 requests: memory', `${million.memoryMb.toFixed(0)} MB`, '', null);
const plain = measure('plain', million.lastUs);
report('the plain generator', seconds(plain.ms), 'same requests', plain.checksum === million.checksum);
report('the plain generator: memory', `${plain.memoryMb.toFixed(0)} MB`, '', null);
report('against the plain generator', `${(plain.ms / million.ms).toFixed(1)} x`, '', null);

const width = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
for (const row of rows) {
  const cells = row.map((cell, i) => cell.padEnd(width[i]!));
  process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
}
process.exitCode = rows.some((row) => row[3] === 'MISSED') ? 1 : 0;
