import { decimal, wholeNumber } from '../../report/text/format-number.js';
import type { ClientSpec, LengthSpec } from '../../workload/spec/workload-spec.js';
import type { WorkloadRecipe } from '../recipes/workload-recipe.js';
import type { Capacity, Preset, PresetVariant } from './preset.js';

const REQUESTS = 4000;
/** All at once: in a long run, start and end have less weight. */
const CAPACITY_REQUESTS = 20_000;
const LOADS = [0.5, 1, 1.5, 2, 3];
const REFERENCE = 'always-admit';
/** Sizes of the bucket, as seconds of what flows in. */
const BUCKET_SECONDS = [1, 5, 20];
const MAX_NUM_SEQS = 256;

const LENGTHS: LengthSpec = { type: 'gaussian', params: { mean: 512, std_dev: 256, min: 2, max: 7000 } };

function client(id: string, share: number): ClientSpec {
  const arrival = { process: 'poisson' as const };
  return {
    id,
    slo_class: id,
    rate_fraction: share,
    arrival,
    input_distribution: LENGTHS,
    output_distribution: LENGTHS,
  };
}

/** Three classes, half of it of the least important one. */
function workload(ratePerSec: number, requests: number): WorkloadRecipe {
  return {
    kind: 'spec',
    spec: {
      version: '2',
      clients: [client('critical', 0.2), client('standard', 0.3), client('batch', 0.5)],
      aggregate_rate: ratePerSec,
      num_requests: requests,
    },
    options: {},
  };
}

/** Admission when more arrives than the fleet can serve: rejections against goodput. */
export const admission: Preset = {
  name: 'admission',
  summary: 'admission under 0.5 to 3 times what the fleet can serve',
  title: 'Admission under load',
  settings: {
    model: 'meta-llama/llama-3.1-8b-instruct',
    'num-instances': '4',
    'routing-policy': 'least-loaded',
    'max-num-seqs': String(MAX_NUM_SEQS),
    'slo-ttft': 'critical=500ms,standard=2s,batch=10s',
  },
  workload: 'preset',
  leastRequests: 1,
  capacityWorkload: () => workload(100_000, CAPACITY_REQUESTS),
  variants(requests, capacity) {
    return LOADS.flatMap((load) =>
      policies(capacity).map(
        ([name, settings, choice]): PresetVariant => ({
          name: `${name}, ${load} x`,
          settings,
          against: name === REFERENCE ? null : `${REFERENCE}, ${load} x`,
          isolates: '',
          series: name,
          x: load,
          workload: workload(load * capacity.requestsPerSec, requests ?? REQUESTS),
          ...(choice === undefined ? {} : { admission: choice }),
        }),
      ),
    );
  },
  axis: { title: 'load', unit: 'x capacity' },
  headline: ['goodput_rps', 'rejected_share', 'ttft_p99_ms', 'ttft_p99_ms/critical'],
  notes: ({ requestsPerSec, inputTokensPerSec }) => [
    `Capacity is ${decimal(requestsPerSec, 1)} requests/s: what the same fleet serves when ${wholeNumber(CAPACITY_REQUESTS)} requests arrive nearly at once.`,
    `Token buckets fill at that rate (${wholeNumber(inputTokensPerSec)} prompt tokens/s) and hold 1, 5 or 20 seconds of it.`,
    `tier-shed refuses the class batch while the busiest replica has an effective load above ${2 * MAX_NUM_SEQS}: a full batch.`,
    'Good is a first token within 500 ms (critical, 20 % of requests), 2 s (standard, 30 %) or 10 s (batch, 50 %).',
  ],
};

type AdmissionVariant = [name: string, settings: Record<string, string>, choice?: PresetVariant['admission']];

function policies({ inputTokensPerSec }: Capacity): AdmissionVariant[] {
  const refill = Math.round(inputTokensPerSec);
  const buckets = BUCKET_SECONDS.map(
    (seconds): AdmissionVariant => [
      `token-bucket ${seconds} s`,
      {
        'admission-policy': 'token-bucket',
        'token-bucket-refill-rate': String(refill),
        'token-bucket-capacity': String(refill * seconds),
      },
    ],
  );
  return [
    [REFERENCE, { 'admission-policy': 'always-admit' }],
    ...buckets,
    [
      'tier-shed',
      { 'admission-policy': 'tier-shed' },
      // In flight counts twice: a replica whose batch is full has this load.
      { policy: 'tier-shed', options: { threshold: 2 * MAX_NUM_SEQS, min_priority: 3 } },
    ],
  ];
}
