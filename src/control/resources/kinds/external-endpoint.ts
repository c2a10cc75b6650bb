import { z } from 'zod';
import type { InputError } from '../../../kernel/errors.js';
import { invalidField } from '../errors.js';
import { column, defineKind } from '../kind.js';
import { name, secret, text, url } from '../parts.js';

const upstream = z.strictObject({
  name: name.describe('What it is called here'),
  url: url.describe('Where its OpenAI-compatible API is'),
  credential: secret.optional().describe('Sent to it as a bearer token, and to nobody else'),
  weight: z.number().min(0).max(1000).default(1).describe('Its part of the requests among those of its tier'),
  tier: z.int().min(0).max(100).default(0).describe('Asked when all of the lower tiers fail'),
  models: z
    .record(text.min(1).max(200), text.min(1).max(200))
    .default({})
    .describe('What requests call a model, and what it is called there; without any, names are passed on as they are'),
});

const spec = z.strictObject({
  upstreams: z.array(upstream).min(1).max(100),
  timeout_s: z.number().positive().max(86_400).default(300),
});

export type ExternalEndpointSpec = z.output<typeof spec>;

const upstreamsOf = (spec: Readonly<Record<string, unknown>>) => (spec as ExternalEndpointSpec).upstreams;

export const externalEndpoint = defineKind({
  kind: 'ExternalEndpoint',
  plural: 'externalendpoints',
  shortNames: ['xep'],
  scope: 'workspace',
  summary: 'Models that somebody else serves: where, with which credential, and what to do when one of them fails.',
  changedBy: 'operator',
  spec,
  phases: ['Pending', 'Running', 'Degraded', 'Failed', 'Deleting'],
  status: { healthy: z.int().min(0).optional().describe('Upstreams that answer') },
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
        invalidField(placeOf(`spec.upstreams[${i}].name`), `there is another '${name}'`, 'give it another name'),
      );
    });
    if (!upstreams.some(({ weight }) => weight > 0)) {
      problems.push(invalidField(placeOf('spec.upstreams'), 'none has a weight', 'give one of them a weight above 0'));
    }
    return problems;
  },
});
