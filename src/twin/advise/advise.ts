import { canonicalJson } from '../../kernel/text/canonical-json.js';
import { ROUTING_POLICIES } from '../../policy/registry.js';
import { replicaLatency } from '../../replica/replica-latency.js';
import type { PolicyChoice } from '../../simulator/cluster-config.js';
import { answerWhatIf, recordedModel, type WhatIfWatch, withSpeeds } from '../whatif/answer-whatif.js';
import { askedConfig } from '../whatif/asked-config.js';
import { readRecordedFleet } from '../whatif/recorded-fleet.js';
import type { WhatIfMetric } from '../whatif/recorded-metrics.js';
import type { WhatIfAlternative } from '../whatif/whatif-document.js';
import type { AskedFleet, WhatIfQuestion } from '../whatif/whatif-question.js';
import type { Advice, AdviceDocument } from './advice-document.js';
import { adviceVerdict, keepVerdict } from './advice-verdict.js';
import { switchCost } from './switch-cost.js';

/** Simulations of every policy that estimate chance. */
const RUNS = 7;
/** Wrong on purpose. */
const NOT_ADVISED = ['always-busiest'];

export interface AdviceRequest {
  /** The policy in force. */
  readonly present: PolicyChoice;
  /** What should become less; `cached_share` more. */
  readonly metric: WhatIfMetric;
  /** Policies to choose from; absent: all. */
  readonly policies?: readonly string[];
}

/**
 * Finds the best policy for recorded traffic: what-if over all policies with their defaults, and what a switch to the best one costs
 * while caches still hold what the former policy placed there. Only a gain outside of its interval is advised.
 */
export async function advise(
  question: WhatIfQuestion,
  { metric, policies, present }: AdviceRequest,
  watch: WhatIfWatch,
): Promise<AdviceDocument> {
  const fleet = await readRecordedFleet(question, true);
  const model = await recordedModel(question, fleet, watch);
  const [served] = question.alternatives;
  // Every policy chooses the only replica: nothing is to be simulated.
  const isAlone = fleet.trace.observed.served.replicas.length === 1;
  const others = isAlone ? [] : choices(present, policies);
  const asked = others.map((routing): AskedFleet => ({ ...served, routing }));
  const known = { ...question, alternatives: asked, runs: question.runs ?? RUNS };
  const document = await answerWhatIf(known, watch, model);
  const { baseline } = document;
  const alternatives = [...document.alternatives].sort((a, b) => gainOf(b, metric) - gainOf(a, metric));
  const best = bestOf(alternatives, metric);
  await watch({ stage: 'simulating', done: 0, total: 0 });
  const config = withSpeeds(askedConfig(known, fleet, model.replica, { ...served, routing: present }), model.speeds);
  const cost =
    best === null
      ? null
      : switchCost(
          fleet,
          config,
          replicaLatency(model.replica),
          askedConfig(known, fleet, model.replica, { ...served, routing: best.routing }).routing,
        );
  return {
    verdict:
      asked.length === 0
        ? keepVerdict(present.policy, isAlone)
        : adviceVerdict(present.policy, best, cost, baseline.refused, metric),
    ...{ metric, present, best, cost },
    ...{ recording: document.recording, baseline, alternatives, notes: document.notes },
  };
}

/** Every policy but the one in force, with the defaults of a live gateway. */
function choices(present: PolicyChoice, given: readonly string[] | undefined): PolicyChoice[] {
  return ROUTING_POLICIES.filter(({ name }) =>
    given === undefined ? !NOT_ADVISED.includes(name) : given.includes(name),
  )
    .map(({ name }) => ({ policy: name, options: {} }))
    .filter((choice) => canonicalJson(choice) !== canonicalJson({ policy: present.policy, options: present.options }));
}

/** How much better a metric gets, as a share; nothing where nothing can be claimed. */
function gainOf({ metrics, refused }: WhatIfAlternative, wanted: WhatIfMetric): number {
  const found = metrics.find(({ metric }) => metric === wanted);
  if (found === undefined || refused !== null) return Number.NEGATIVE_INFINITY;
  return wanted === 'cached_share' ? found.change : -found.change;
}

/** The first that is better for certain and refuses no requests. @param alternatives best first */
function bestOf(alternatives: readonly WhatIfAlternative[], wanted: WhatIfMetric): Advice | null {
  for (const { metrics, refused, rejected, routing } of alternatives) {
    const found = metrics.find(({ metric }) => metric === wanted);
    if (found === undefined || refused !== null || rejected > 0 || found.claim !== 'better') continue;
    const { change, changeHigh, changeLow, predicted, was } = found;
    return {
      policy: routing.policy,
      routing: { policy: routing.policy, options: {} },
      was,
      predicted,
      change,
      changeLow,
      changeHigh,
    };
  }
  return null;
}
