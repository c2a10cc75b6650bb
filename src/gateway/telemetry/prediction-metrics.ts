import { type Exposition, labelText } from '../../protocol/prometheus/exposition.js';
import { PREDICTION_METRICS } from '../prediction/error-window.js';
import { FAMILIES } from './metric-families.js';
import type { MetricFamily } from './metric-family.js';
import type { PredictionView } from './metric-sources.js';

interface Labelled {
  readonly endpoint: string;
  readonly engine: string;
}

/** How far predictions were off, and the profiles that they come from. */
export function writePrediction(out: Exposition, { observed, profiles }: PredictionView): void {
  const traffic = observed.all();
  out.family(FAMILIES.predictionError);
  for (const one of traffic) {
    for (const metric of PREDICTION_METRICS) {
      const stats = one.errorsOf(metric).stats();
      if (stats === null) continue;
      for (const stat of ['mean', 'p50', 'p90', 'bias'] as const) {
        const of = `${labels(one)},${labelText('metric', metric)},${labelText('stat', stat)}`;
        out.sample(of, stats[stat]);
      }
    }
  }
  each(out, FAMILIES.predictionsCompared, traffic, ({ compared }) => compared);
  if (profiles === null) return;
  const states = profiles.states().filter(({ profile }) => profile !== null);
  each(out, FAMILIES.profileAge, states, ({ ageS }) => ageS!);
  out.family(FAMILIES.profileScore);
  for (const state of states) {
    for (const metric of state.score === null ? [] : PREDICTION_METRICS) {
      out.sample(`${labels(state)},${labelText('metric', metric)}`, state.score![metric]);
    }
  }
  each(out, FAMILIES.profilePinned, states, ({ isPinned }) => (isPinned ? 1 : 0));
  each(out, FAMILIES.profileDrift, states, ({ drift }) => (drift === null ? 0 : 1));
  const counts = profiles.counts();
  eachOf(out, FAMILIES.profileDrifts, counts, ({ drifts }) => drifts);
  eachOf(out, FAMILIES.profileFits, counts, ({ fits }) => fits);
  out.single(FAMILIES.profileFitTime, profiles.fitSeconds);
}

function labels({ endpoint, engine }: Labelled): string {
  return `${labelText('endpoint', endpoint)},${labelText('engine', engine)}`;
}

function each<Item extends Labelled>(
  out: Exposition,
  family: MetricFamily,
  items: readonly Item[],
  value: (item: Item) => number,
): void {
  out.family(family);
  for (const item of items) out.sample(labels(item), value(item));
}

/** Only what is not 0. */
function eachOf<Item extends Labelled>(
  out: Exposition,
  family: MetricFamily,
  items: readonly Item[],
  values: (item: Item) => Readonly<Record<string, number>>,
): void {
  out.family(family);
  for (const item of items) {
    for (const [name, value] of Object.entries(values(item))) {
      if (value > 0) out.sample(`${labels(item)},${labelText(family.labels[2]!, name)}`, value);
    }
  }
}
