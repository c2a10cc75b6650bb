import { generateSpecWorkload } from '../../src/workload/generate/generate-spec-workload.js';
import { MILLION } from './million-spec.js';
import { plainGenerate } from './plain-generator.js';

const PRIME = 2 ** 31 - 1;

/** One measured generation in a process of its own: prints a line of JSON. Arguments: ours or plain, and for plain the horizon. */
const [kind, horizonUs] = process.argv.slice(2);
/** Depends on every request's time and lengths, whoever comes first within a microsecond. */
let checksum = 0;
const add = (atUs: number, input: number, output: number) => {
  checksum = (checksum + (((atUs % PRIME) * 31 + input) * 31 + output)) % PRIME;
};
const started = performance.now();
let ms: number;
let lastUs = 0;
let requests = 0;
if (kind === 'plain') {
  const made = plainGenerate(MILLION, 42, Number(horizonUs));
  ms = performance.now() - started;
  requests = made.length;
  for (const { atUs, input, output } of made) add(atUs, input, output);
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
