import type { InputError } from '../../../kernel/errors.js';
import {
  above,
  field,
  listOf,
  map,
  number,
  required,
  secret,
  section,
  text,
  type Value,
  whole,
} from '../../../schema/fields.js';
import { invalidField } from '../errors.js';
import { column, defineKind } from '../kind.js';
import { localAddresses, name, url } from '../parts.js';

const model = text(200);

const upstream = section('Upstream', {
  name: required(name, { help: 'name of the upstream' }),
  url: required(url, { help: 'base URL of its OpenAI-compatible API' }),
  credential: field(secret(), { help: 'bearer token, sent to this upstream only' }),
  weight: field(number(0, 1000), { default: 1, help: 'share of the requests among upstreams of the same tier' }),
  tier: field(whole(0, 100), { default: 0, help: 'used when all upstreams of lower tiers fail' }),
  models: field(map('models', model, model), {
    default: {},
    help: 'name at the upstream by name in requests; without any, names are passed on unchanged',
  }),
});

const spec = section('ExternalEndpoint spec', {
  upstreams: required(listOf(upstream, 1, 100), { help: 'services that requests are sent to' }),
  timeout_s: field(above(0, 86_400), { default: 300, help: 'time limit of a request' }),
  local_addresses: localAddresses,
});

export type ExternalEndpointSpec = Value<typeof spec>;

const upstreamsOf = (spec: Readonly<Record<string, unknown>>) => (spec as ExternalEndpointSpec).upstreams;

export const externalEndpoint = defineKind({
  kind: 'ExternalEndpoint',
  plural: 'externalendpoints',
  shortNames: ['xep'],
  scope: 'workspace',
  summary: 'Models served by other OpenAI-compatible services, with credentials and failover.',
  changedBy: 'operator',
  spec,
  phases: ['Pending', 'Running', 'Degraded', 'Failed', 'Deleting'],
  status: { healthy: field(whole(0), { help: 'upstreams that respond' }) },
  columns: [
    column('PHASE', 'status.phase'),
    {
      title: 'UPSTREAMS',
      value: ({ spec, status }) => `${status?.healthy ?? 0}/${upstreamsOf(spec).length}`,
    },
    {
      title: 'NAMES',
      wide: true,
      value: ({ spec }) =>
        upstreamsOf(spec)
          .map((one) => one.name)
          .join(','),
    },
  ],
  example: {
    upstreams: [
      { name: 'first', url: 'https://llm.example.com/v1', credential: 'sk-example', models: { chat: 'big-model' } },
      { name: 'spare', url: 'https://spare.example.com/v1', tier: 1 },
    ],
  },
  check({ upstreams }, placeOf) {
    const problems: InputError[] = [];
    upstreams.forEach(({ name }, i) => {
      if (upstreams.findIndex((one) => one.name === name) === i) return;
      problems.push(
        invalidField(placeOf(`spec.upstreams[${i}].name`), `the name '${name}' is used twice`, 'rename one of the two'),
      );
    });
    if (!upstreams.some(({ weight }) => weight > 0)) {
      problems.push(invalidField(placeOf('spec.upstreams'), 'all weights are 0', 'give one upstream a weight above 0'));
    }
    return problems;
  },
});
