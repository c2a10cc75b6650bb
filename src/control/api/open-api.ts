import { jsonSchema } from '../../schema/json-schema.js';
import { KINDS } from '../resources/kinds.js';
import type { ControlRoute } from './control-route.js';

const json = (schema: object) => ({ 'application/json': { schema } });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const REFUSAL = {
  type: 'object',
  required: ['error', 'code'],
  properties: {
    error: { type: 'string', description: 'For people' },
    code: { type: 'string', description: 'For programs' },
    problems: {
      type: 'array',
      items: { type: 'object' },
      description: 'All that is wrong with what was sent, each with its place',
    },
    differences: { type: 'array', items: { type: 'object' }, description: 'With 409: what has changed meanwhile' },
    current: { description: 'With 409: the resource as it is' },
  },
};

const SCALE = {
  type: 'object',
  required: ['replicas'],
  additionalProperties: false,
  properties: { replicas: { type: 'integer', minimum: 0, description: 'How many; 0 pauses it' } },
};

/** OpenAPI 3.1 of the routes, with the schemas of the kinds. */
export async function openApi(routes: readonly ControlRoute[]): Promise<object> {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    paths[route.path]![route.method.toLowerCase()] = operation(route);
  }
  const schemas: Record<string, unknown> = { Refusal: REFUSAL };
  for (const kind of KINDS) {
    schemas[kind.kind] = { description: kind.summary, ...(await jsonSchema(kind.schema)) };
    schemas[`${kind.kind}Status`] = await jsonSchema(kind.statusSchema);
    schemas[`${kind.kind}List`] = {
      type: 'object',
      required: ['kind', 'resource_version', 'items'],
      properties: {
        kind: { const: `${kind.kind}List` },
        resource_version: { type: 'integer', description: 'What a watch goes on from' },
        items: { type: 'array', items: ref(kind.kind) },
      },
    };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Twinyard control API', version: 'v1' },
    security: [{ key: [] }],
    paths,
    components: { schemas, securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  };
}

function operation(route: ControlRoute): object {
  const { gives, kind, method, path, query = {}, role, scope, summary, takes } = route;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
  const text = { schema: { type: 'string' } };
  return {
    operationId: operationId(method, path),
    summary,
    ...(kind === undefined ? {} : { tags: [kind.kind] }),
    'x-twinyard-role': role,
    'x-twinyard-scope': scope,
    parameters: [
      ...names.map((name) => ({ name, in: 'path', required: true, ...text })),
      ...Object.entries(query).map(([name, description]) => ({ name, in: 'query', description, ...text })),
    ],
    ...(takes === undefined ? {} : { requestBody: { required: true, content: bodyOf(route) } }),
    responses: {
      [statusOf(method, takes)]: { description: summary, content: responseOf(gives, kind?.kind) },
      default: { description: 'A refusal', content: json(ref('Refusal')) },
    },
  };
}

function bodyOf({ kind, takes }: ControlRoute): object {
  if (takes === 'status') return json(ref(`${kind!.kind}Status`));
  if (takes === 'scale') return json(SCALE);
  const schema = kind === undefined ? { oneOf: KINDS.map((one) => ref(one.kind)) } : ref(kind.kind);
  return { ...json(schema), 'application/yaml': { schema } };
}

function responseOf(gives: ControlRoute['gives'], kind: string | undefined): object {
  if (gives === 'stream') return { 'text/event-stream': { schema: { type: 'string' } } };
  if (kind === undefined || gives === 'object') return json({ type: 'object' });
  return json(gives === 'list' ? { anyOf: [ref(`${kind}List`), { type: 'object' }] } : ref(kind));
}

const statusOf = (method: string, takes: ControlRoute['takes']) =>
  method === 'POST' && takes === 'resource' ? '201' : method === 'DELETE' ? '202' : '200';

/** `GET /api/v1/engines/{name}` as `getEnginesName`. */
function operationId(method: string, path: string): string {
  const words = path
    .slice('/api/v1/'.length)
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
  return method.toLowerCase() + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
}
