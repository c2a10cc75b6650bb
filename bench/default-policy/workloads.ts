import { randomStream } from '../../src/kernel/random-stream.js';
import { PromptBlocks } from '../../src/workload/prompt-blocks.js';
import { RequestTable } from '../../src/workload/request-table.js';

type Random = ReturnType<typeof randomStream>;

/** A request before it has a time: the blocks of its prompt, its lengths, and what belongs together. */
interface Made {
  blocks: number[];
  input: number;
  output: number;
  session?: string;
  /** Seconds after the request before it in the session, for later turns. */
  afterS?: number;
}

/** One kind of traffic: requests in order, and how uneven their arrivals are (1: Poisson). */
export interface TrafficKind {
  name: string;
  burstiness: number;
  slowFactors?: number[];
  make(random: Random, count: number): Made[];
}

export const BLOCK_TOKENS = 16;
let nextBlock = 0;
const fresh = (tokens: number) => Array.from({ length: Math.ceil(tokens / BLOCK_TOKENS) }, () => nextBlock++);
const between = (random: Random, low: number, high: number) => low + Math.floor((high - low) * random.next());

/** Prompts behind one of several prefixes, the first the most popular. */
function assistants(prefixes: number, tokens: number, zipf: number, output = 200): TrafficKind['make'] {
  return (random, count) => {
    const shared = Array.from({ length: prefixes }, () => fresh(tokens));
    const weights = shared.map((_, i) => (i + 1) ** -zipf);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return Array.from({ length: count }, () => {
      let at = random.next() * total;
      let group = 0;
      while (group < prefixes - 1 && at >= weights[group]!) at -= weights[group++]!;
      const own = between(random, 100, 400);
      return {
        blocks: [...shared[group]!, ...fresh(own)],
        input: tokens + own,
        output: between(random, output / 2, output * 1.5),
      };
    });
  };
}

function unshared(low: number, high: number, longShare = 0): TrafficKind['make'] {
  return (random, count) =>
    Array.from({ length: count }, () => {
      const input = random.next() < longShare ? between(random, 4000, 8000) : between(random, low, high);
      return { blocks: fresh(input), input, output: between(random, 100, 300) };
    });
}

/** Sessions whose prompts hold all turns before them. */
function sessions(turns: number, first: number, added: number, output: number, pauseS: number): TrafficKind['make'] {
  return (random, count) => {
    const made: Made[] = [];
    for (let session = 0; made.length < count; session++) {
      let blocks = fresh(between(random, first / 2, first * 1.5));
      const length = Math.max(1, Math.round(-turns * Math.log(1 - random.next())));
      for (let turn = 0; turn < length && made.length < count; turn++) {
        const tokens = between(random, output / 2, output * 1.5);
        made.push({
          blocks,
          input: blocks.length * BLOCK_TOKENS,
          output: tokens,
          session: `s${session}`,
          ...(turn === 0 ? {} : { afterS: pauseS * (0.5 + random.next()) }),
        });
        blocks = [...blocks, ...fresh(tokens + between(random, added / 2, added * 1.5))];
      }
    }
    return made;
  };
}

export const TRAFFIC: readonly TrafficKind[] = [
  { name: 'one hot prefix', burstiness: 1, make: assistants(1, 2000, 1) },
  { name: 'hot, long outputs', burstiness: 1, make: assistants(1, 2000, 1, 1000) },
  { name: 'several prefixes', burstiness: 1, make: assistants(24, 2000, 1.1) },
  { name: 'nothing shared', burstiness: 1, make: unshared(400, 1200) },
  { name: 'long chats', burstiness: 1, make: sessions(8, 400, 200, 200, 12) },
  { name: 'agents', burstiness: 1, make: sessions(25, 6000, 300, 120, 3) },
  { name: 'bursts', burstiness: 4, make: assistants(24, 2000, 1.1) },
  { name: 'mixed lengths', burstiness: 1, make: unshared(100, 600, 0.1) },
  { name: 'unequal replicas', burstiness: 1, slowFactors: [1, 1, 1, 2], make: assistants(24, 2000, 1.1) },
];

/** The traffic at so many requests per second. Sessions begin at random; later turns follow after their pause times `pauses`. */
export function tableOf(kind: TrafficKind, count: number, rate: number, seed: number, pauses = 1): RequestTable {
  const random = randomStream(seed, `traffic/${kind.name}`);
  const made = kind.make(random, count);
  const times: number[] = [];
  let clockS = 0;
  const last = new Map<string, number>();
  const starts = made.filter(({ afterS }) => afterS === undefined).length;
  for (const { session, afterS } of made) {
    if (afterS === undefined) {
      // Gamma gaps of the wanted variation, by a mixture of two exponentials; the mean stays.
      const short = kind.burstiness === 1 || random.next() < 1 - 1 / (2 * kind.burstiness);
      const mean =
        kind.burstiness === 1 ? 1 : short ? 0.2 : 2 * kind.burstiness * (1 - 0.2 * (1 - 1 / (2 * kind.burstiness)));
      clockS += (-Math.log(1 - random.next()) * mean * made.length) / (starts * rate);
      times.push(clockS);
    } else {
      times.push(last.get(session!)! + (pauses === 0 ? 0.01 : pauses * afterS + 2));
    }
    if (session !== undefined) last.set(session, times.at(-1)!);
  }
  const order = made.map((_, i) => i).sort((a, b) => times[a]! - times[b]! || a - b);
  const table = new RequestTable(made.length);
  const blocks = new PromptBlocks(BLOCK_TOKENS);
  for (const i of order) {
    const row = table.append();
    const request = made[i]!;
    table.arrivalUs[row] = Math.round(times[i]! * 1e6);
    table.inputTokens[row] = request.input;
    table.outputTokens[row] = request.output;
    if (request.session !== undefined) table.session[row] = table.sessions.index(request.session);
    for (const block of request.blocks) blocks.add(block);
    blocks.endRow(row);
  }
  table.blocks = blocks;
  return table;
}
