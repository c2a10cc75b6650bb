import { fileUnreadable } from '../../workload/errors.js';
import type { GenerateOptions } from '../../workload/generate/generate-spec-workload.js';
import type { WorkloadSpec } from '../../workload/spec/workload-spec.js';
import type { AgenticOptions } from '../../workload/synth/agentic-sessions.js';
import type { ClientOptions, ClientTrace } from '../../workload/tools/replayed-trace.js';
import type { TraceWindow } from '../../workload/tools/trace-window.js';
import type { Trace, TraceGoodputTarget, TracePart } from '../../workload/trace.js';
import type { Workload } from '../../workload/workload.js';
import { emptyWindow } from '../errors.js';

/** How to create a workload: plain data, so that a worker can create it itself. */
export type WorkloadRecipe =
  | { kind: 'spec'; spec: WorkloadSpec; options: Omit<GenerateOptions, 'seed'> }
  | TraceRecipe
  | { kind: 'agentic-coder'; options: Partial<Omit<AgenticOptions, 'seed'>>; maxTurns: number | null };

/** A recorded workload: the same for every seed, unless pauses are drawn. */
export interface TraceRecipe {
  kind: 'trace';
  /** Null: the format has none, or it is next to the data. */
  header: string | null;
  data: string;
  /** Only some of its requests. */
  part?: TracePart;
  /** Of the bytes of both: content counts, not location. */
  sha256: string;
  sessionMode: string;
  thinkTimeMs: number | null;
  thinkTimeDist: string | null;
  /** At most this many turns of every session, as `trace cap` keeps them; null: all. */
  maxTurns: number | null;
  /** How the client sends its requests; absent: as recorded. */
  client?: ClientOptions;
  /** How many times its rate; absent: as recorded. */
  rateFactor?: number;
  /** About this many requests with its statistics, drawn by the seed; absent: its own. */
  resampled?: number;
  /** Requests are for the model that is served, whatever name they have for it. */
  anyModel?: true;
  /** Only the requests of this window; absent: all. */
  window?: TraceWindow;
}

export interface MadeWorkload {
  workload: Workload;
  /** Requests that the client has in flight at most; absent: any number. */
  maxInFlight?: number;
  /** The goodput targets of a trace, by SLO class. */
  goodputTargets: Readonly<Record<string, TraceGoodputTarget>>;
}

/** Whether two seeds give two workloads. */
export function dependsOnSeed(recipe: WorkloadRecipe): boolean {
  return (
    recipe.kind !== 'trace' ||
    recipe.resampled !== undefined ||
    (recipe.sessionMode !== 'fixed' && recipe.thinkTimeDist !== null)
  );
}

/** Reads the trace of a recipe; each call returns one that may be changed. */
export type ReadTrace = (recipe: TraceRecipe) => Promise<Trace>;

/**
 * Loads only what the recipe needs: every worker pays for its imports.
 * @param read in place of the files, for a caller that has them in memory
 */
export async function makeWorkload(recipe: WorkloadRecipe, seed: number, read?: ReadTrace): Promise<MadeWorkload> {
  if (recipe.kind === 'spec') {
    const { generateSpecWorkload } = await import('../../workload/generate/generate-spec-workload.js');
    return { workload: generateSpecWorkload(recipe.spec, { ...recipe.options, seed }), goodputTargets: {} };
  }
  if (recipe.kind === 'agentic-coder') {
    const { synthAgenticCoder } = await import('../../workload/synth/agentic-coder.js');
    const { table } = await prepared(synthAgenticCoder({ ...recipe.options, seed }), recipe);
    return { workload: { table }, goodputTargets: {} };
  }
  const { maxInFlight, trace: sent } = await recordedTrace(recipe, read);
  const trace = await prepared(await loaded(await inWindow(sent, recipe), recipe, seed), recipe);
  const { goodputTargets } = trace.header;
  const common = { goodputTargets, ...(maxInFlight === undefined ? {} : { maxInFlight }) };
  if (recipe.sessionMode === 'fixed') return { workload: { table: trace.table }, ...common };
  const [{ thinkTimeOf }, { closedLoopWorkload }] = await Promise.all([
    import('../../workload/sessions/think-time.js'),
    import('../../workload/sessions/trace-session-driver.js'),
  ]);
  const thinkTime = thinkTimeOf(
    {
      ...(recipe.thinkTimeMs === null ? {} : { thinkTimeMs: recipe.thinkTimeMs }),
      ...(recipe.thinkTimeDist === null ? {} : { thinkTimeDist: recipe.thinkTimeDist }),
    },
    seed,
  );
  return { workload: closedLoopWorkload(trace, thinkTime, recipe.client?.timeoutUs), ...common };
}

/** The trace of a recipe as its client sends it, as recorded. */
export async function recordedTrace(recipe: TraceRecipe, read: ReadTrace = readUnchanged): Promise<ClientTrace> {
  const [{ replayedTrace }, trace] = await Promise.all([
    import('../../workload/tools/replayed-trace.js'),
    read(recipe),
  ]);
  if (recipe.anyModel) trace.table.model.fill(0);
  return replayedTrace(trace, recipe.client ?? {});
}

async function readUnchanged(recipe: TraceRecipe): Promise<Trace> {
  const trace = await readTrace(recipe);
  const { checkUnchanged } = await import('./trace-recipe.js');
  // After reading: a file that changed before or during it has another hash now.
  await checkUnchanged(recipe);
  return trace;
}

async function readTrace({ header, data, part }: TraceRecipe): Promise<Trace> {
  if (header === null) return (await import('../../workload/formats/read-any-trace.js')).readAnyTrace(data, part);
  if (part !== undefined)
    return (await import('../../workload/trace-v2/trace-part.js')).readTracePart(header, data, part);
  return (await import('../../workload/trace-v2/read-trace.js')).readTraceV2(header, data);
}

/** At the wanted rate and length. */
async function loaded(trace: Trace, { rateFactor = 1, resampled, data }: TraceRecipe, seed: number): Promise<Trace> {
  if (resampled !== undefined) {
    const { resampleTrace } = await import('../../workload/fit/resample-trace.js');
    return resampleTrace(trace, resampled, rateFactor, seed);
  }
  if (rateFactor === 1) return trace;
  const { scaleRate } = await import('../../workload/tools/scale-rate.js');
  return scaleRate(trace, rateFactor) ?? cannotScale(data, rateFactor);
}

function cannotScale(data: string, factor: number): never {
  throw fileUnreadable(data, `its times leave the range at ${factor} times the rate`);
}

async function inWindow(trace: Trace, { data, window }: TraceRecipe): Promise<Trace> {
  if (window === undefined) return trace;
  const { traceWindow } = await import('../../workload/tools/trace-window.js');
  const part = traceWindow(trace, window);
  if (part === null) throw emptyWindow(data, window);
  return part;
}

/** With as many turns as wanted, and with the responses that come back in them. */
async function prepared(trace: Trace, { maxTurns }: { maxTurns: number | null }): Promise<Trace> {
  const [{ linkResponses }, capped] = await Promise.all([
    import('../../workload/sessions/link-responses.js'),
    maxTurns === null
      ? trace
      : import('../../workload/tools/cap-turns.js').then(({ capTurns }) => capTurns(trace, maxTurns)),
  ]);
  linkResponses(capped);
  return capped;
}
