import { readFileSync } from 'node:fs';
import { generateSpecWorkload } from '../../src/workload/generate/generate-spec-workload.js';
import { readTraceV2 } from '../../src/workload/trace-v2/read-trace.js';
import { MILLION } from './million-spec.js';
import { plainGenerate } from './plain-generator.js';

const PRIME = 2 ** 31 - 1;

/** One measured run in a process of its own: prints a line of JSON. Arguments: what to do, and a horizon or a file. */
const [kind, argument] = process.argv.slice(2);
/** Depends on every request's time and lengths, but not on the order within a microsecond. */
let checksum = 0;
const add = (atUs: number, input: number, output: number) => {
  checksum = (checksum + (((atUs % PRIME) * 31 + input) * 31 + output)) % PRIME;
};
const started = performance.now();
let ms: number;
let lastUs = 0;
let requests = 0;
if (kind === 'plain') {
  const made = plainGenerate(MILLION, 42, Number(argument));
  ms = performance.now() - started;
  requests = made.length;
  for (const { atUs, input, output } of made) add(atUs, input, output);
} else if (kind === 'plain-read') {
  // Nothing is checked but that there are numbers.
  const lines = readFileSync(argument!, 'utf8').trimEnd().split('\n').slice(1);
  const read = lines.map((line) => line.split(','));
  const requestsRead = read.map((cells) => [Number(cells[20]), Number(cells[9]) + Number(cells[7]), Number(cells[10])]);
  ms = performance.now() - started;
  requests = requestsRead.length;
  for (const [atUs, input, output] of requestsRead) add(atUs!, input!, output!);
} else if (kind === 'read') {
  const { table } = await readTraceV2(null, argument!);
  ms = performance.now() - started;
  requests = table.count;
  for (let row = 0; row < requests; row++)
    add(table.arrivalUs[row]!, table.inputTokens[row]!, table.outputTokens[row]!);
} else {
  const { table } = generateSpecWorkload(MILLION, { seed: 42 });
  ms = performance.now() - started;
  requests = table.count;
  lastUs = table.arrivalUs[requests - 1]!;
  for (let row = 0; row < requests; row++)
    add(table.arrivalUs[row]!, table.inputTokens[row]!, table.outputTokens[row]!);
}
process.stdout.write(
  JSON.stringify({ ms, requests, lastUs, checksum, memoryMb: process.resourceUsage().maxRSS / 1024 }),
);
