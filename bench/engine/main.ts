import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { percentile } from '../../src/kernel/percentile.js';
import { randomStream } from '../../src/kernel/random-stream.js';
import { type Arrival, type Latencies, modelSays } from './model-says.js';
import { agent, streamChat, type Timing } from './stream-client.js';

/**
 * Checks that the emulated engine keeps the timing of the model: concurrent clients stream chat completions, and their
 * latencies are compared with those of the simulated replica for the same arrivals. The median difference over several
 * rounds counts, because a single pause of the machine exceeds the bound. Arguments: clients, rounds.
 */
const BOUND_MS = 2;
const START_MS = 10;
const REQUESTS = 3;
const clients = Number(process.argv[2] ?? 50);
const rounds = Number(process.argv[3] ?? 3);
const random = randomStream(42, 'bench engine');

const child = fork(fileURLToPath(new URL('./engine-process.js', import.meta.url)));
const [{ url }] = (await once(child, 'message')) as [{ url: string }];

/** A prompt that shares no block with any other, and a response of a given length. */
function chat(promptTokens: number, outputTokens: number): object {
  const unique = `${random.next()} `.repeat(Math.ceil((promptTokens * 4) / 18));
  const messages = [{ role: 'user', content: unique.slice(0, promptTokens * 4) }];
  return { model: 'qwen/qwen3-14b', messages, stream: true, max_tokens: outputTokens, ignore_eos: true };
}

async function load(output: () => number): Promise<Timing[]> {
  const timings: Timing[] = [];
  const client = async (_: unknown, i: number) => {
    // Clients that all start at once would measure how long they take to start.
    await pause(i * START_MS);
    for (let n = 0; n < REQUESTS; n++) timings.push(await streamChat(url, chat(100 + random.below(600), output())));
  };
  await Promise.all(Array.from({ length: clients }, client));
  return timings;
}

function observed(timings: readonly Timing[]): Latencies {
  const ascending = (values: number[]) => values.sort((a, b) => a - b);
  return {
    ttft: ascending(timings.map(({ sentMs, chunksMs }) => chunksMs[0]! - sentMs)),
    itl: ascending(timings.flatMap(({ chunksMs }) => chunksMs.slice(1).map((at, i) => at - chunksMs[i]!))),
    e2e: ascending(timings.map(({ sentMs, doneMs }) => doneMs - sentMs)),
  };
}

interface Round {
  predicted: Latencies;
  measured: Latencies;
}

async function round(): Promise<Round> {
  child.send('forget');
  const measured = observed(await load(() => 40 + random.below(80)));
  child.send('tell');
  const [{ arrivals }] = (await once(child, 'message')) as [{ arrivals: Arrival[] }];
  return { predicted: modelSays(arrivals), measured };
}

// The first requests find cold code on both sides.
await load(() => 10);
const all: Round[] = [];
for (let i = 0; i < rounds; i++) all.push(await round());
const exited = once(child, 'exit');
child.disconnect();
agent.destroy();
await exited;

const rows = [['what', 'model', 'measured', 'difference', 'all rounds', `within ${BOUND_MS} ms`]];
for (const name of ['ttft', 'itl', 'e2e'] as const) {
  for (const p of [50, 90, 99]) {
    const compared = all
      .map(({ predicted, measured }) => ({
        model: percentile(predicted[name], p),
        seen: percentile(measured[name], p),
      }))
      .sort((a, b) => a.seen - a.model - (b.seen - b.model));
    const { model, seen } = compared[rounds >> 1]!;
    const differences = compared.map((one) => (one.seen - one.model).toFixed(2)).join(' ');
    // The end-to-end time is printed for information only.
    const verdict = name === 'e2e' ? '' : Math.abs(seen - model) <= BOUND_MS ? 'holds' : 'MISSED';
    const figures = [model, seen, seen - model].map((ms) => `${ms.toFixed(2)} ms`);
    rows.push([`${name.toUpperCase()} p${p}`, ...figures, differences, verdict]);
  }
}
const counts = all.map(({ measured, predicted }) => `${measured.itl.length} of ${predicted.itl.length}`);
process.stdout.write(
  `${clients} clients, ${rounds} rounds; gaps between tokens seen one by one: ${counts.join(', ')}\n`,
);
const width = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
for (const row of rows) {
  const cells = row.map((cell, i) => cell.padEnd(width[i]!));
  process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
}
process.exitCode = rows.some((row) => row.at(-1) === 'MISSED') ? 1 : 0;
