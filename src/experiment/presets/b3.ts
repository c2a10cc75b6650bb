import { PUBLISHED } from '../../workload/synth/published.js';
import type { WorkloadRecipe } from '../recipes/workload-recipe.js';
import type { Preset, PresetVariant } from './preset.js';

const REFERENCE = 'lmetric';
const MAX_TURNS = 8;
/** With fewer requests there are too few sessions for the published quantiles. */
const LEAST_REQUESTS = 450;

/** At another size the synthetic trace has as many requests per session and per second. */
function lookAlike(requests: number | null): WorkloadRecipe {
  if (requests === null) return { kind: 'agentic-coder', options: {}, maxTurns: null };
  const share = requests / PUBLISHED.requests;
  const sessions = Math.round(PUBLISHED.sessions * share);
  return {
    kind: 'agentic-coder',
    options: { requests, sessions, durationS: PUBLISHED.durationS * share },
    maxTurns: null,
  };
}

/** Five policies of a cache-aware proxy on an agent's traffic, each a control for another. */
export const b3: Preset = {
  name: 'b3',
  summary: 'lmetric and four controls on the traffic of coding agents, or on a trace',
  title: 'Caches, affinity and heavy sessions',
  settings: { model: 'qwen/qwen3-coder-30b-a3b', 'num-instances': '8' },
  workload: 'preset or trace',
  leastRequests: LEAST_REQUESTS,
  capacityWorkload: null,
  variants(requests) {
    const variant = (name: string, policy: string, isolates: string): PresetVariant => ({
      name,
      settings: { 'routing-policy': policy },
      against: name === REFERENCE ? null : REFERENCE,
      isolates,
      series: name,
      x: null,
      workload: lookAlike(requests),
    });
    return [
      variant(REFERENCE, 'lmetric', ''),
      variant('load-only', 'load-only', 'what knowing the caches is worth'),
      variant('sticky', 'sticky', 'affinity to the session at the price of hot spots'),
      variant('unified', 'unified', 'affinity that gives way under load'),
      {
        ...variant(
          'capped',
          'lmetric',
          'how much of it long sessions cause: the same policy without their later turns',
        ),
        maxTurns: MAX_TURNS,
      },
    ];
  },
  axis: null,
  headline: ['ttft_p50_ms', 'ttft_p90_ms', 'ttft_p99_ms', 'prompt_cache_hit_rate'],
  notes: () => [
    `capped has other requests than the rest: at most ${MAX_TURNS} turns of every session. Its numbers are of lighter traffic.`,
  ],
};
