import type { SampleColumns } from '../../../gateway/prediction/request-samples.js';
import type { EngineSettings, ObservedTrace } from '../../../observe/fit/traces/observed-trace.js';
import { PromptBlocks } from '../../../workload/prompt-blocks.js';
import { RequestTable } from '../../../workload/request-table.js';

/** Requests that a fit needs: of a replica in the older part, and of all replicas in the newer part. */
export const LEAST_FITTED = 40;
export const LEAST_SCORED = 20;
/** How long before the first request cached prompts are put into the simulated cache. */
const LEAD_US = 60e6;
/** Judged later than the longest request takes, but never more than this share is only replayed. */
const MOST_WARM_UP = 0.2;

/**
 * The samples of each replica as a trace of one engine, the replica with most requests first. Prompts are not known, but how much
 * of each the engine found in its cache is: in the trace, prompts share one long prefix, each as much of it as was found.
 */
export function sampledTraces(columns: SampleColumns, engine: EngineSettings): ObservedTrace[] {
  const byReplica = new Map<number, number[]>();
  for (let i = 0; i < columns.count; i++) {
    const rows = byReplica.get(columns.replica[i]!);
    if (rows === undefined) byReplica.set(columns.replica[i]!, [i]);
    else rows.push(i);
  }
  const groups = [...byReplica].sort(([, a], [, b]) => b.length - a.length);
  return groups.map(([replica, rows]) => traceOf(columns.replicaIds[replica] ?? '', columns, rows, engine));
}

function traceOf(
  name: string,
  columns: SampleColumns,
  samples: readonly number[],
  engine: EngineSettings,
): ObservedTrace {
  const { blockSize } = engine;
  const table = new RequestTable(samples.length + 1);
  const blocks = new PromptBlocks(blockSize);
  const firstUs = columns.arrivalUs[samples[0]!]!;
  const cachedBlocks = (i: number) => Math.floor(columns.cachedTokens[i]! / blockSize);
  const longest = samples.reduce((most, i) => Math.max(most, cachedBlocks(i)), 0);
  addRequest(0, longest * blockSize + 1, 1, longest);
  for (const i of samples) {
    const input = Math.max(1, columns.inputTokens[i]!);
    const arrivalUs = columns.arrivalUs[i]! - firstUs + LEAD_US;
    addRequest(
      arrivalUs,
      input,
      Math.max(1, columns.outputTokens[i]!),
      Math.min(cachedBlocks(i), Math.floor(input / blockSize)),
    );
  }
  table.blocks = blocks;
  return {
    name,
    table,
    ttftUs: Float64Array.from([Number.NaN, ...samples.map((i) => columns.ttftUs[i]!)]),
    e2eUs: Float64Array.from([Number.NaN, ...samples.map((i) => columns.e2eUs[i]!)]),
    warmUp: 1 + warmUpOf(columns, samples),
    maxInFlight: Number.POSITIVE_INFINITY,
    engine: withRoom(engine, table),
  };

  function addRequest(arrivalUs: number, input: number, output: number, shared: number): void {
    const row = table.append();
    table.arrivalUs[row] = Math.round(arrivalUs);
    table.inputTokens[row] = input;
    table.outputTokens[row] = output;
    for (let block = 0; block < shared; block++) blocks.add(block);
    blocks.endRow(row);
  }
}

/** Samples while requests from before the first one may have been under way. */
function warmUpOf({ arrivalUs, e2eUs }: SampleColumns, samples: readonly number[]): number {
  const longestUs = samples.reduce((most, i) => Math.max(most, e2eUs[i]! || 0), 0);
  const endUs = arrivalUs[samples[0]!]! + longestUs;
  const most = Math.floor(MOST_WARM_UP * samples.length);
  let warmUp = 0;
  while (warmUp < most && arrivalUs[samples[warmUp]!]! < endUs) warmUp++;
  return warmUp;
}

/** The engine has served these requests: they fit, whatever is assumed of it. */
function withRoom(engine: EngineSettings, { count, inputTokens, outputTokens }: RequestTable): EngineSettings {
  let longest = 0;
  for (let row = 0; row < count; row++) longest = Math.max(longest, inputTokens[row]! + outputTokens[row]!);
  const needed = Math.ceil(longest / engine.blockSize) + 1;
  return {
    ...engine,
    maxModelLen: Math.max(engine.maxModelLen, longest),
    totalKvBlocks: Math.max(engine.totalKvBlocks, needed),
  };
}
