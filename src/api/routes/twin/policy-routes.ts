import type * as v from 'valibot';
import type { AdmissionPolicy, RoutingPolicy } from '../../../policy/contract.js';
import { ADMISSION_POLICIES, ROUTING_POLICIES } from '../../../policy/registry.js';
import { factsOf, type Schema } from '../../../schema/facts.js';
import { section } from '../../../schema/fields.js';
import { type JsonSchema, jsonSchema } from '../../../schema/json-schema.js';
import { type ApiRoute, defineRoute, ok } from '../../api-route.js';
import { PAGE_QUERY, type PageQuery, pageOfAll } from '../../pagination.js';
import { POLICY_CHOICE } from '../../views/gateway-views.js';

const lists = {
  method: 'GET',
  role: 'viewer',
  scope: 'anywhere',
  query: PAGE_QUERY,
  response: { type: 'list', schema: POLICY_CHOICE },
} as const;

/** The policies to choose from, with the options that each has. */
export const POLICY_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    ...lists,
    path: '/api/v1/policies',
    summary: 'List the routing policies that an endpoint can have, with their options',
    handle: (_, { query }) => choicesOf(ROUTING_POLICIES, query),
  }),
  defineRoute({
    ...lists,
    path: '/api/v1/admission-policies',
    summary: 'List the admission policies that an endpoint can have, with their options',
    handle: (_, { query }) => choicesOf(ADMISSION_POLICIES, query),
  }),
];

type Policy = Pick<AdmissionPolicy | RoutingPolicy, 'formula' | 'goodFor' | 'name' | 'notFor' | 'options' | 'summary'>;

async function choicesOf(policies: readonly Policy[], query: PageQuery) {
  const items = await Promise.all(policies.map(async (policy) => ({ policy, options: await optionsOf(policy) })));
  return ok(
    pageOfAll(
      'PolicyChoiceList',
      query,
      items,
      ({ policy }) => [policy.name],
      ({ options, policy: { formula, goodFor, name, notFor, summary } }) => ({
        ...{ name, summary, good_for: goodFor, not_for: notFor, formula, options },
      }),
    ),
  );
}

/** Made once: they do not change while the program runs. */
const known = new Map<string, Promise<JsonSchema>>();

function optionsOf({ name, options }: Policy): Promise<JsonSchema> {
  const made = known.get(name) ?? optionSchema(Object.entries(options as Record<string, v.GenericSchema>));
  known.set(name, made);
  return made;
}

async function optionSchema(options: readonly [string, v.GenericSchema][]): Promise<JsonSchema> {
  const entries = await Promise.all(
    options.map(async ([key, schema]) => {
      const whole = await jsonSchema(section(key, { [key]: schema })).catch(() => null);
      // A value with a grammar of its own has no JSON Schema: any value, which the policy checks.
      return [key, whole?.properties?.[key] ?? { description: factsOf(schema as Schema).help }];
    }),
  );
  return { type: 'object', properties: Object.fromEntries(entries), additionalProperties: false };
}
