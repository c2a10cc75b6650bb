import * as v from 'valibot';
import { agreementOf, type ClassOutcomes, type ShadowFigures } from '../../gateway/telemetry/shadow-figures.js';
import { section } from '../../schema/fields.js';
import { described, naturalNumber, nullable, numeric, openMap, string } from './parts.js';

const CLASS = section('ShadowClass', {
  slo_class: described(string, 'SLO class of the requests'),
  same: described(naturalNumber, 'decisions for the same replica'),
  tied: described(
    naturalNumber,
    'decisions for another replica that the shadow scores the same, so that a draw decided',
  ),
  different: described(naturalNumber, 'decisions for another replica'),
  forced: described(naturalNumber, 'decisions with only one candidate, which do not count'),
});

const READING = section('ShadowReading', {
  agreement: described(
    nullable(numeric),
    'share of same and tied, 0 to 1, where each decision stands for the dropped ones around it; null before the first',
  ),
  classes: described(v.array(CLASS), 'decisions by SLO class'),
});

/** A shadow policy of an endpoint and what it found. */
export const SHADOW_REPORT = section('ShadowReport', {
  name: described(string, 'name of the shadow'),
  policy: described(string, 'its routing policy'),
  options: described(openMap, 'its options by name'),
  source: described(
    v.picklist(['configuration', 'added']),
    'whether the configuration of the endpoint has it, or it was added until the gateway stops',
  ),
  serving_policy: described(string, 'the routing policy that serves, with which it is compared'),
  age_s: described(numeric, 'seconds since it began, or since the policy that serves changed'),
  dropped: described(naturalNumber, 'decisions that it did not make, because the gateway had no time for them'),
  dropped_busy: described(naturalNumber, 'those of them while the event loop of the gateway was nearly always busy'),
  stopped: described(
    nullable(
      section('ShadowStop', {
        age_s: described(numeric, 'seconds since it stopped'),
        problem: described(string, 'what failed'),
      }),
    ),
    'why it decides no longer, because its policy failed; null while it decides',
  ),
  on_real_placements: described(
    READING,
    'decisions where all requests are placed by the policy that serves: how often the shadow would decide otherwise',
  ),
  on_own_placements: described(
    READING,
    'decisions where the shadow had placed all requests itself: what the fleet would have become',
  ),
  known_prefix: described(
    nullable(
      section('KnownPrefix', {
        real: described(numeric, 'by the real placements'),
        own: described(numeric, "by the shadow's own placements"),
      }),
    ),
    'share of prompt tokens that had been sent to the chosen replica before, over about the last thousand decisions; null before the first',
  ),
  predicted_ttft: described(
    section('PredictedTtft', {
      decisions: described(naturalNumber, 'decisions that differ and have a prediction for both replicas'),
      mean_difference_ms: described(
        nullable(numeric),
        'predicted TTFT of the choice of the shadow minus that of the replica that served; null without a prediction',
      ),
      real_mean_ms: described(nullable(numeric), 'mean of all decisions, on the real placements'),
      own_mean_ms: described(nullable(numeric), "mean of all decisions, on the shadow's own placements"),
    }),
    'by the latency profile: what differing decisions would have changed, and TTFT by the real placements and by its own',
  ),
});

const readingOf = (classes: readonly ClassOutcomes[]) => ({
  agreement: agreementOf(classes),
  classes: classes.map(({ different, forced, same, sloClass, tied }) => ({
    ...{ slo_class: sloClass, same, tied, different, forced },
  })),
});

/** @param nowMs the gateway's milliseconds */
export function shadowView(figures: ShadowFigures, nowMs: number) {
  const { predicted, stopped, ttft } = figures;
  const { count, meanUs } = ttft;
  return {
    name: figures.name,
    policy: figures.policy,
    options: figures.options,
    source: figures.source,
    serving_policy: figures.servingPolicy,
    age_s: (nowMs - figures.sinceUs / 1000) / 1000,
    dropped: figures.dropped,
    dropped_busy: figures.droppedBusy,
    stopped: stopped === null ? null : { age_s: (nowMs - stopped.atUs / 1000) / 1000, problem: stopped.problem },
    on_real_placements: readingOf(figures.onRealPlacements),
    on_own_placements: readingOf(figures.onOwnPlacements),
    known_prefix: figures.knownPrefix,
    predicted_ttft: {
      decisions: count,
      mean_difference_ms: meanUs === null ? null : meanUs / 1000,
      real_mean_ms: predicted.count === 0 ? null : predicted.realUs / predicted.count / 1000,
      own_mean_ms: predicted.count === 0 ? null : predicted.ownUs / predicted.count / 1000,
    },
  };
}

export type ShadowView = ReturnType<typeof shadowView>;
