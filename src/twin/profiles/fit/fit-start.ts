import { physicsFamily } from '../../../observe/fit/families/physics-family.js';
import type { ProfileFamily } from '../../../observe/fit/families/profile-family.js';
import { scaledFamily } from '../../../observe/fit/families/scaled-family.js';
import type { ObservedTrace } from '../../../observe/fit/traces/observed-trace.js';
import { judgedRows } from '../../../observe/fit/traces/request-groups.js';
import { loadGpu } from '../../../replica/catalogue/gpu-catalogue.js';
import { loadModel } from '../../../replica/catalogue/model-catalogue.js';
import type { LatencyProfile } from '../../../replica/latency/profile.js';

/** How far requests may change a former profile of the same engine, and one of an engine that is not known at all. */
const DOUBT_AFTER_PROFILE = 0.3;
const DOUBT_OF_ANY = 1;
/** Whose cost structure an unknown engine is assumed to have. */
const ANY = { model: 'qwen/qwen3-14b', hardware: 'H100' };

/** Where the search for a profile starts. */
export type SearchStart =
  | { readonly kind: 'profile'; readonly profile: LatencyProfile }
  | { readonly kind: 'catalogue'; readonly model: string; readonly hardware: string; readonly tp: number }
  | { readonly kind: 'data' };

/** The profiles to search in. */
export function familyOf(start: SearchStart, traces: readonly ObservedTrace[]): ProfileFamily {
  if (start.kind === 'profile') return scaledFamily(start.profile.step, start.profile.request, DOUBT_AFTER_PROFILE);
  if (start.kind === 'catalogue') return physicsFamily(loadModel(start.model), loadGpu(start.hardware), start.tp);
  return anyFamily(traces);
}

/** The cost structure of a common model and GPU, as fast as the quickest requests were. */
function anyFamily(traces: readonly ObservedTrace[]): ProfileFamily {
  const physics = physicsFamily(loadModel(ANY.model), loadGpu(ANY.hardware), 1);
  const { request, step } = physics.costsOf(physics.parameters.map(({ start }) => start));
  const factor = quickGapUs(traces) / step.decodeOnly[0]!.us;
  const scaled = scaledFamily(step, request, DOUBT_OF_ANY);
  const values = scaled.parameters.map(({ start }) => start);
  const quick = scaled.costsOf([factor, factor, factor, ...values.slice(3)]);
  return scaledFamily({ ...quick.step, launch: null }, { ...request, queueingUs: 0 }, DOUBT_OF_ANY);
}

/** A time between tokens that one request in ten falls below. */
function quickGapUs(traces: readonly ObservedTrace[]): number {
  const gaps = traces.flatMap((trace) =>
    judgedRows(trace, trace.table.count).flatMap((row) => {
      const tokens = trace.table.outputTokens[row]! - 1;
      return tokens > 0 ? [(trace.e2eUs[row]! - trace.ttftUs[row]!) / tokens] : [];
    }),
  );
  gaps.sort((a, b) => a - b);
  return gaps[Math.floor(0.1 * gaps.length)] ?? 10_000;
}
