import type * as v from 'valibot';
import { KINDS } from '../control/resources/kinds.js';
import { entriesOf, factsOf, isOptional, type Schema } from '../schema/facts.js';
import { jsonSchema } from '../schema/json-schema.js';
import type { ApiRoute } from './api-route.js';
import { ERROR } from './views/resource-views.js';

const json = (schema: object) => ({ 'application/json': { schema } });
const refTo = (name: string) => `#/components/schemas/${name}`;
const ref = (name: string) => ({ $ref: refTo(name) });

/** Responses refer to resources by their kind. */
const RESOURCES = { schemas: Object.fromEntries(KINDS.map(({ kind, schema }) => [kind, schema])), refTo };
const responseSchema = (schema: v.GenericSchema) => jsonSchema(schema, 'output', RESOURCES);

const nextCursor = {
  type: ['string', 'null'],
  description: 'the cursor of the next page; null on the last one',
};

/** Only with `?count=true`. */
const COUNTED = {
  total: { type: 'integer', description: 'how many fit, on all pages' },
  is_more: { type: 'boolean', description: 'whether there are more than that: counting ends at some number' },
};

/** OpenAPI 3.1 of the routes, with the schemas of the kinds. */
export async function openApi(routes: readonly ApiRoute[]): Promise<object> {
  const schemas: Record<string, unknown> = { Error: await responseSchema(ERROR) };
  for (const kind of KINDS) {
    schemas[kind.kind] = { description: kind.summary, ...(await jsonSchema(kind.schema)) };
    schemas[`${kind.kind}Status`] = await jsonSchema(kind.statusSchema);
    schemas[`${kind.kind}List`] = listOf(
      kind.kind,
      { resource_version: { type: 'integer', description: 'a watch continues from here' } },
      COUNTED,
    );
  }
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    paths[route.path]![route.method.toLowerCase()] = await operation(route, schemas);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Twinyard API', version: 'v1' },
    security: [{ key: [] }],
    paths,
    components: { schemas, securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  };
}

async function operation(route: ApiRoute, schemas: Record<string, unknown>): Promise<object> {
  const { body, ifMatch, kind, mayCreate, method, path, role, scope, status = 200, summary } = route;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
  const named = names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
  const success = { description: summary, content: await responseOf(route, schemas) };
  return {
    operationId: operationId(method, path),
    summary,
    ...(kind === undefined ? {} : { tags: [kind.kind] }),
    'x-twinyard-role': role,
    'x-twinyard-scope': scope,
    parameters: [...named, ...(await queryParameters(route)), ...(ifMatch === undefined ? [] : [condition(ifMatch)])],
    ...(body === undefined
      ? {}
      : { requestBody: { required: !(body.type === 'json' && body.optional), content: await bodyOf(route) } }),
    responses: {
      [status]: success,
      ...(mayCreate === true ? { 201: success } : {}),
      default: { description: 'An error', content: json(ref('Error')) },
    },
  };
}

const condition = (named: string) => ({
  ...{ name: 'If-Match', in: 'header', required: false, schema: { type: 'string' } },
  description: `${named} that the change is for; refused with 409 if it is another one by then`,
});

function queryParameters({ query }: ApiRoute): Promise<object[]> {
  return Promise.all(
    Object.entries(entriesOf(query as Schema)!).map(async ([name, schema]) => {
      const { description: _, ...own } = await jsonSchema(schema as v.GenericSchema);
      const { help } = factsOf(schema);
      return { name, in: 'query', required: !isOptional(schema), description: help, schema: own };
    }),
  );
}

async function bodyOf({ body, kind }: ApiRoute): Promise<object> {
  if (body!.type === 'json') return json(await jsonSchema(body!.schema));
  if (body!.type === 'file') return { 'application/octet-stream': { schema: { type: 'string' } } };
  if (body!.type === 'patch') {
    return {
      'application/merge-patch+json': { schema: { type: 'object' } },
      'application/json-patch+json': { schema: { type: 'array', items: { type: 'object' } } },
    };
  }
  if (body!.type === 'status') return json(kind === undefined ? { type: 'object' } : ref(`${kind.kind}Status`));
  const schema = kind === undefined ? { oneOf: KINDS.map((one) => ref(one.kind)) } : ref(kind.kind);
  return { ...json(schema), 'application/yaml': { schema } };
}

async function responseOf({ kind, response }: ApiRoute, schemas: Record<string, unknown>): Promise<object> {
  switch (response.type) {
    case 'stream':
      return { 'text/event-stream': { schema: { type: 'string' } } };
    case 'openapi':
      return json({ type: 'object' });
    case 'resource':
      return json(ref(kind!.kind));
    case 'resources':
      return json(ref(`${kind!.kind}List`));
  }
  const name = factsOf(response.schema as Schema).title!;
  schemas[name] ??= await responseSchema(response.schema);
  if (response.type === 'object') return json(ref(name));
  const more = Object.entries(response.more ?? {}).map(async ([key, schema]) => [key, await responseSchema(schema)]);
  schemas[`${name}List`] ??= listOf(name, Object.fromEntries(await Promise.all(more)));
  return {
    ...json(ref(`${name}List`)),
    ...(response.csv === true ? { 'text/csv': { schema: { type: 'string' } } } : {}),
  };
}

function listOf(name: string, more: Record<string, object> = {}, optional: Record<string, object> = {}): object {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['kind', 'items', 'next', ...Object.keys(more)],
    properties: {
      kind: { type: 'string', description: 'kind of the list' },
      items: { type: 'array', items: ref(name) },
      next: nextCursor,
      ...more,
      ...optional,
    },
  };
}

/** `GET /api/v1/engines/{name}` as `getEnginesName`. */
function operationId(method: string, path: string): string {
  const words = path
    .slice('/api/v1/'.length)
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
  return method.toLowerCase() + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
}
