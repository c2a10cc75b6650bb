import { generatedLoad, type LoadSource, recordedLoad } from '../../experiment/plan/load-source.js';
import type { PlannedLoad } from '../../experiment/plan/plan-document.js';
import { recordedTrace, type TraceRecipe, type WorkloadRecipe } from '../../experiment/recipes/workload-recipe.js';
import { rateText, secondsText } from '../../report/plan/plan-text.js';
import { counted } from '../../report/text/format-number.js';
import { sessionArrivals } from '../../workload/fit/resample-trace.js';
import { isLengthPreset } from '../../workload/generate/presets.js';
import type { Settings } from '../compare/settings.js';
import type { Diagnostics } from '../diagnostics.js';
import { conflictingFlags, missingFlag } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { PlanFlags } from './plan-flags.js';
import type { WantedRate } from './read-plan-values.js';

/** The traffic of a plan: where it comes from, and at which rates. */
export interface ResolvedLoad {
  source: LoadSource;
  planned: PlannedLoad;
  /** Further loads, in times the base rate. */
  curve: number[];
  /** Recorded requests; null for generated traffic. */
  recorded: number | null;
}

/** Flags of requests that are described by flags alone; their base rate is the first wanted one. */
export function isDescribedByFlags(given: Settings): boolean {
  if (['trace', 'trace-data', 'trace-header', 'workload-spec'].some((name) => given.has(name))) return false;
  return isLengthPreset(given.get('workload')?.text ?? 'distribution');
}

/** @param replicas of the fleet that is given; null: the least is looked for */
export async function resolveLoad(
  flags: FlagValues<PlanFlags>,
  given: Settings,
  replicas: number | null,
  recipe: WorkloadRecipe,
  diagnostics: Diagnostics,
): Promise<ResolvedLoad> {
  const resolved =
    recipe.kind === 'trace' ? await recorded(recipe, diagnostics) : generated(flags, given, recipe as SpecRecipe);
  const { rate: rates } = flags.values;
  const { baseRate } = resolved.source;
  const factors = (rates ?? []).map(({ unit, value }: WantedRate) => (unit === 'times' ? value : value / baseRate));
  // A fleet is asked for its greatest load unless one load is given; several are its load curve.
  const isCurve = replicas !== null && factors.length > 1;
  if (replicas === null && factors.length > 1) {
    throw conflictingFlags(
      '--rate',
      `has ${factors.length} rates for the least fleet`,
      'give one, or --num-instances or --fleet',
    );
  }
  const factor = isCurve ? null : (factors[0] ?? (replicas === null ? 1 : null));
  const planned = { ...resolved.planned, factor, rate: factor === null ? null : factor * baseRate };
  return { ...resolved, planned, curve: isCurve ? [...new Set(factors)].sort((a, b) => a - b) : [] };
}

type SpecRecipe = Extract<WorkloadRecipe, { kind: 'spec' }>;
type Found = Pick<ResolvedLoad, 'source' | 'planned' | 'recorded'>;

async function recorded(trace: TraceRecipe, diagnostics: Diagnostics): Promise<Found> {
  const recipe: TraceRecipe = { ...trace, anyModel: true, client: { maxInFlight: 0, ...trace.client } };
  const { trace: sent } = await recordedTrace(trace);
  for (const note of sent.notes ?? []) diagnostics.warn(`${trace.data}: ${note}`);
  const { table } = sent;
  if (table.count === 0) {
    throw missingFlag(
      trace.data,
      'holds no request',
      'record some traffic, or describe it with --rate and --prompt-tokens',
    );
  }
  const { arrival, durationUs, requestsPerS, sessions } = sessionArrivals(sent);
  const variation = arrival.cv ?? (arrival.process === 'constant' ? 0 : 1);
  const models = new Set(table.model.subarray(0, table.count));
  const notes = [
    `recorded in ${trace.data}: ${counted(table.count, 'request')} in ${counted(sessions.count, 'session')} over ${secondsText(durationUs / 1e6)}, ${rateText(requestsPerS)}, gaps with a coefficient of variation of ${variation}`,
    ...(models.size > 1
      ? [`requests name ${models.size} models and are planned as one; --trace-model selects one`]
      : []),
    ...(sent.header.maxInFlight === undefined || trace.client?.maxInFlight !== undefined
      ? []
      : [
          `its client had at most ${sent.header.maxInFlight} requests in flight; the plan sends them when they are due`,
        ]),
  ];
  return {
    source: recordedLoad(recipe, { requests: table.count, requestsPerS }),
    planned: { source: trace.data, baseRate: requestsPerS, rate: null, factor: null, notes },
    recorded: table.count,
  };
}

function generated(flags: FlagValues<PlanFlags>, given: Settings, recipe: SpecRecipe): Found {
  const source = given.get('workload-spec')?.text ?? given.get('workload')?.text ?? 'flags';
  const hint = "give a rate there, or plan with a trace of it: 'twinyard run --trace-output'";
  if ((recipe.spec.aggregate_rate ?? 0) <= 0) {
    throw conflictingFlags(source, 'its traffic has no rate of its own: clients wait, or windows set it', hint);
  }
  const byFlags = isDescribedByFlags(given);
  if (!byFlags && flags.given('arrival')) {
    throw conflictingFlags('--arrival', `${source} says how requests arrive`, 'leave it out');
  }
  const process = flags.values.arrival as 'poisson' | 'constant';
  const spec = byFlags
    ? { ...recipe.spec, clients: recipe.spec.clients!.map((client) => ({ ...client, arrival: { process } })) }
    : recipe.spec;
  const load = generatedLoad({ ...recipe, spec });
  const notes =
    byFlags && process === 'poisson'
      ? ['requests arrive at random (Poisson); --arrival constant spaces them evenly']
      : [];
  return {
    source: load,
    planned: { source, baseRate: load.baseRate, rate: null, factor: null, notes },
    recorded: null,
  };
}
