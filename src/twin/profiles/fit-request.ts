import type { EngineFacts } from '../../gateway/prediction/engine-facts.js';
import type { SampleColumns } from '../../gateway/prediction/request-samples.js';
import { InputError } from '../../kernel/errors.js';
import type { EngineSettings } from '../../observe/fit/traces/observed-trace.js';
import { loadGpu } from '../../replica/catalogue/gpu-catalogue.js';
import { loadModel } from '../../replica/catalogue/model-catalogue.js';
import { servingDefaults } from '../../replica/catalogue/serving-defaults.js';
import type { LatencyProfile } from '../../replica/latency/profile.js';
import type { FitJob } from './fit/fit-engine.js';
import type { SearchStart } from './fit/fit-start.js';

/** Where an engine does not say how many blocks it has: more than any GPU holds. */
const UNKNOWN_BLOCKS = 2 ** 18;
const USUAL = { blockSize: 16, maxNumSeqs: 256, maxNumBatchedTokens: 2048, engineRules: 'vllm-v1' };
/** Latest requests whose end may be missing: never more than this share is left out. */
const MOST_UNSETTLED = 0.25;
const UNKNOWN_NAME = 'unknown';

export interface FitRequest {
  readonly job: FitJob;
  /** What was not known, a sentence each. */
  readonly assumes: readonly string[];
}

/** A fit of the requests of one endpoint and engine. */
export function fitRequest(
  name: string,
  columns: SampleColumns,
  facts: EngineFacts,
  current: LatencyProfile | null,
  nowUs: number,
): FitRequest {
  const assumes: string[] = [];
  const engine = settingsOf(facts, current, assumes);
  const { start, ...names } = startOf(facts, current, assumes);
  if (columns.outputTokens.every((tokens) => tokens <= 1)) {
    assumes.push('the time between tokens is not measured: no response has more than one');
  }
  return { job: { columns: settled(columns, nowUs), engine, start, current, names: { name, ...names } }, assumes };
}

/** Settings that the engine reports, else those of its profile, else the usual ones. */
function settingsOf(facts: EngineFacts, current: LatencyProfile | null, assumes: string[]): EngineSettings {
  const measured = current?.scheduler ?? {};
  const blockSize = facts.blockSize ?? measured.blockSize ?? USUAL.blockSize;
  const totalKvBlocks = facts.kvBlocks ?? measured.totalKvBlocks ?? UNKNOWN_BLOCKS;
  const { maxNumBatchedTokens = USUAL.maxNumBatchedTokens, maxNumSeqs = USUAL.maxNumSeqs } = measured;
  if (totalKvBlocks === UNKNOWN_BLOCKS) assumes.push('the KV cache is never full: the engine does not report its size');
  if (current === null) {
    assumes.push(`batches have at most ${maxNumSeqs} requests and ${maxNumBatchedTokens} tokens`);
  }
  return {
    ...{ blockSize, totalKvBlocks, maxNumSeqs, maxNumBatchedTokens },
    maxModelLen: facts.maxModelLen ?? measured.maxModelLen ?? totalKvBlocks * blockSize,
    longPrefillTokenThreshold: measured.longPrefillTokenThreshold ?? 0,
    scheduler: 'fcfs',
    preemptionPolicy: 'fcfs',
    engineRules: measured.engineRules ?? USUAL.engineRules,
  };
}

type NamedStart = Pick<LatencyProfile, 'model' | 'hardware' | 'tp'> & { start: SearchStart };

function startOf(facts: EngineFacts, current: LatencyProfile | null, assumes: string[]): NamedStart {
  if (current !== null) {
    const { hardware, model, tp } = current;
    return {
      hardware: facts.hardware ?? hardware,
      model,
      tp: facts.tp ?? tp,
      start: { kind: 'profile', profile: current },
    };
  }
  const model = facts.model?.toLowerCase() ?? UNKNOWN_NAME;
  const usual = servingDefaults(model) ?? null;
  const given = facts.hardware === null ? null : ifInCatalogue(() => loadGpu(facts.hardware!).name);
  const hardware = given ?? usual?.hardware ?? null;
  const isModelKnown = ifInCatalogue(() => loadModel(model)) !== null;
  if (!isModelKnown || hardware === null) {
    const what = isModelKnown ? 'the GPU is not known' : `model '${model}' is not in the catalogue`;
    assumes.push(`${what}: the profile comes from requests alone`);
    return { model, hardware: facts.hardware ?? UNKNOWN_NAME, tp: facts.tp ?? 1, start: { kind: 'data' } };
  }
  const tp = facts.tp ?? (given === null ? (usual?.tp ?? 1) : 1);
  if (given === null)
    assumes.push(`the GPU is ${hardware} with tp ${tp}, as is usual for the model: it is not configured`);
  return { model, hardware, tp, start: { kind: 'catalogue', model, hardware, tp } };
}

function ifInCatalogue<Found>(load: () => Found): Found | null {
  try {
    return load();
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

/**
 * Samples are taken when requests end: of the latest, long ones may be missing. Those that arrived after the longest request
 * would have had to are left out.
 */
function settled(columns: SampleColumns, nowUs: number): SampleColumns {
  const longestUs = columns.e2eUs.reduce((most, us) => Math.max(most, us || 0), 0);
  const least = Math.ceil((1 - MOST_UNSETTLED) * columns.count);
  let count = columns.count;
  while (count > least && columns.arrivalUs[count - 1]! > nowUs - longestUs) count--;
  const { arrivalUs, cachedTokens, e2eUs, inFlight, inputTokens, outputTokens, replica, ttftUs } = columns;
  return {
    count,
    arrivalUs: arrivalUs.subarray(0, count),
    ttftUs: ttftUs.subarray(0, count),
    e2eUs: e2eUs.subarray(0, count),
    inputTokens: inputTokens.subarray(0, count),
    cachedTokens: cachedTokens.subarray(0, count),
    outputTokens: outputTokens.subarray(0, count),
    inFlight: inFlight.subarray(0, count),
    replica: replica.subarray(0, count),
    replicaIds: columns.replicaIds,
  };
}
