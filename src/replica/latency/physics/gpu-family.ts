import { above, choice, list, map, number, required, section, text, whole } from '../../../schema/fields.js';
import { checkValue } from '../../../schema/read-json.js';
import { cataloguePath } from '../../catalogue/catalogue-path.js';
import { loadJsonObject } from '../../catalogue/load-json.js';
import { ENGINE_RULES } from '../../engine-rules.js';
import { FIELD_CODES } from '../../errors.js';
import { type ExpectedError, type GpuFamily, UNMEASURED } from '../gpu-coefficients.js';

const FILE = 'latency.json';
const share = (help: string) => required(above(0, 1), { help });
const us = (help: string) => required(number(0, 1e6), { help });
const percent = required(whole(1, 1000), { help: 'median error in per cent' });
const errors = (help: string) =>
  required(section('errors', { e2e: percent, itl: percent, ttft: percent, ttft_p99: percent }), { help });

const FAMILY = section('family', {
  gpus: required(list(text()), { help: 'names in hardware.json' }),
  engine_rules: required(choice(ENGINE_RULES.map(({ name }) => name)), { help: 'of the engine that was measured' }),
  from: required(text(), { help: 'what was fitted' }),
  untried: required(text(), { help: 'what no run has tried' }),
  expected_error: errors('of runs that were not fitted'),
  expected_error_saturated: errors('the same where requests wait for a place in the batch'),
  weight_share: share('of the bandwidth, reading weights'),
  context_share: share('of the bandwidth, reading context'),
  matrix_share: share('of the rate, matrices'),
  attention_share: share('of the rate, attention of prompts'),
  overlap: required(number(1, 100), { help: 'how reading weights and computing tokens hide each other' }),
  link_gb_s: required(above(0, 1e5), { help: 'exchange between the GPUs of a split model' }),
  layer_us: us('per layer of a step'),
  split_layer_us: us('more per layer of a split model'),
  prompt_layer_us: us('more per layer with prompts'),
  launch_layer_us: us('least time per layer of steps above 512 tokens'),
  step_us: us('per step'),
  request_us: us('per request of a step'),
  crowd_us: us('per pair of requests of a step'),
  prompt_us: us('per request that works on its prompt'),
  uneven_context: required(number(0, 10), { help: 'of the longest context beyond the mean' }),
  shared_context: required(number(0, 1), { help: 'of a token in a shared block' }),
  queueing_us: us('before a request is queued'),
});

const FAMILIES = map('families', FAMILY);

/** The family that a GPU belongs to. Names are those of `hardware.json`, in upper or lower case. */
export function gpuFamily(gpu: string): GpuFamily {
  const file = cataloguePath(FILE);
  const families = checkValue(loadJsonObject(file, { uniqueKeys: true }), FAMILIES, FIELD_CODES, file);
  const isThis = (name: string) => name.toLowerCase() === gpu.toLowerCase();
  const name = Object.keys(families).find((family) => families[family]!.gpus.some(isThis)) ?? UNMEASURED;
  const given = families[name]!;
  return {
    name,
    engineRules: given.engine_rules,
    from: given.from,
    untried: given.untried,
    expected: expectedOf(given.expected_error),
    expectedSaturated: expectedOf(given.expected_error_saturated),
    coefficients: {
      weightShare: given.weight_share,
      contextShare: given.context_share,
      matrixShare: given.matrix_share,
      attentionShare: given.attention_share,
      overlap: given.overlap,
      linkGBs: given.link_gb_s,
      layerUs: given.layer_us,
      splitLayerUs: given.split_layer_us,
      promptLayerUs: given.prompt_layer_us,
      launchLayerUs: given.launch_layer_us,
      stepUs: given.step_us,
      requestUs: given.request_us,
      crowdUs: given.crowd_us,
      promptUs: given.prompt_us,
      unevenContext: given.uneven_context,
      sharedContext: given.shared_context,
      queueingUs: given.queueing_us,
    },
  };
}

function expectedOf({ ttft_p99, ...rest }: Omit<ExpectedError, 'ttftP99'> & { ttft_p99: number }): ExpectedError {
  return { ...rest, ttftP99: ttft_p99 };
}
