import type { SampleColumns } from '../../../gateway/prediction/request-samples.js';
import { fitRequests } from '../../../observe/fit/traces/fit-requests.js';
import type { EngineSettings, ObservedTrace } from '../../../observe/fit/traces/observed-trace.js';
import { judgedRows } from '../../../observe/fit/traces/request-groups.js';
import type { LatencyProfile, ProfileScheduler } from '../../../replica/latency/profile.js';
import { LEAST_FITTED, LEAST_SCORED, sampledTraces } from './engine-traces.js';
import { familyOf, type SearchStart } from './fit-start.js';
import { type ProfileScore, type ScoredTrace, scoreProfile } from './profile-score.js';

/** The share of the time, at the end, that profiles are scored on. */
const NEWER = 0.25;
/** More requests make a fit longer and hardly better. */
const MOST_FITTED = 800;
const LEAST_UNCERTAINTY = 0.01;

/** Everything a fit needs: plain data for a thread. */
export interface FitJob {
  readonly columns: SampleColumns;
  readonly engine: EngineSettings;
  readonly start: SearchStart;
  /** The profile in use; null where there is none. */
  readonly current: LatencyProfile | null;
  readonly names: Pick<LatencyProfile, 'name' | 'model' | 'hardware' | 'tp'>;
}

export interface FitOutcome {
  readonly profile: LatencyProfile;
  /** On the newer part, by the fitted profile and by the one in use. */
  readonly score: ProfileScore;
  readonly currentScore: ProfileScore | null;
  /** Requests that the profile was fitted to. */
  readonly fitted: number;
}

/**
 * Fits a profile to the older part of the samples and scores it, and the one in use, on the newer part. Null when there
 * are too few. @param pace called between simulations
 */
export function fitEngine({ columns, current, engine, names, start }: FitJob, pace: () => void): FitOutcome | null {
  const all = sampledTraces(columns, engine).map((trace) => ({ trace, rows: rowsBefore(trace, 1 - NEWER) }));
  const enough = all.filter(({ rows, trace }) => judgedRows(trace, rows).length >= LEAST_FITTED);
  const scored = enough.map(({ rows, trace }): ScoredTrace => ({ trace, from: rows }));
  const newer = enough.reduce(
    (sum, { rows, trace }) => sum + judgedRows(trace, trace.table.count).length - judgedRows(trace, rows).length,
    0,
  );
  if (newer < LEAST_SCORED) return null;
  const parts = fewParts(enough);
  const traces = parts.map(({ trace }) => trace);
  const fit = fitRequests(familyOf(start, traces), parts, pace);
  const costs = { step: fit.step, request: fit.request };
  const score = scoreProfile(costs, scored);
  if (score === null) return null;
  pace();
  const uncertainty = { step: Math.min(1, Math.max(LEAST_UNCERTAINTY, score.itl)) };
  const profile: LatencyProfile = { version: 1, ...names, ...costs, scheduler: schedulerOf(engine), uncertainty };
  return {
    profile,
    score,
    currentScore: current === null ? null : scoreProfile(current, scored),
    fitted: parts.reduce((sum, { rows, trace }) => sum + judgedRows(trace, rows).length, 0),
  };
}

/** The replicas with most requests, as many as a fit takes in reasonable time. */
function fewParts<Part extends { trace: ObservedTrace; rows: number }>(parts: readonly Part[]): Part[] {
  const few: Part[] = [];
  let requests = 0;
  for (const part of parts) {
    if (few.length > 0 && requests + part.rows > MOST_FITTED) continue;
    requests += part.rows;
    few.push(part);
  }
  return few;
}

/** Rows that arrived in the first part of a trace's time. */
function rowsBefore({ table, warmUp }: ObservedTrace, share: number): number {
  const { arrivalUs, count } = table;
  const firstUs = arrivalUs[Math.min(warmUp, count - 1)]!;
  const endUs = firstUs + share * (arrivalUs[count - 1]! - firstUs);
  let rows = 0;
  while (rows < count && arrivalUs[rows]! < endUs) rows++;
  return rows;
}

function schedulerOf({
  blockSize,
  engineRules,
  maxModelLen,
  maxNumBatchedTokens,
  maxNumSeqs,
  totalKvBlocks,
}: EngineSettings): ProfileScheduler {
  return {
    ...(engineRules === undefined ? {} : { engineRules }),
    ...{ blockSize, totalKvBlocks, maxModelLen, maxNumSeqs, maxNumBatchedTokens },
  };
}
