import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, it } from 'vitest';
import { ask, withFakeApi } from './fake-api.fixture.js';
import { API_ROUTES } from './routes.js';

withFakeApi();

interface DescribedOperation {
  operationId: string;
  parameters: { name: string; in: string }[];
  responses: object;
}

interface Document {
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: object };
}

it('describes every route and every schema that it refers to', async () => {
  const document = (await ask('GET /api/v1/openapi.json')).body as unknown as Document;
  for (const { method, path } of API_ROUTES) expect(document.paths[path]).toHaveProperty(method.toLowerCase());
  const text = JSON.stringify(document);
  const refs = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map((match) => match[1]!);
  expect(refs.length).toBeGreaterThan(20);
  for (const name of refs) expect(document.components.schemas).toHaveProperty(name);
  // Classes such as \p{Cc} are not known to every reader.
  const patterns = [...text.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map((match) => match[1]!);
  expect(patterns.length).toBeGreaterThan(20);
  for (const pattern of patterns) expect(JSON.parse(pattern)).not.toMatch(/\\p\{/i);
  for (const [path, methods] of Object.entries(document.paths)) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    for (const { parameters, responses } of Object.values(methods)) {
      expect(parameters.filter((one) => one.in === 'path').map(({ name }) => name)).toEqual(named);
      const statuses = Object.keys(responses);
      expect(statuses.pop()).toBe('default');
      expect(statuses.every((status) => /^20\d$/.test(status))).toBe(true);
    }
  }
  const ids = Object.values(document.paths).flatMap((path) => Object.values(path).map((one) => one.operationId));
  expect(new Set(ids).size).toBe(ids.length);
});

it('has the condition of changes that can be made for one version only', async () => {
  const { paths } = (await ask('GET /api/v1/openapi.json')).body as unknown as Document;
  const policy = paths['/api/v1/workspaces/{workspace}/endpoints/{name}/policy']!.put!;
  expect(policy.parameters).toContainEqual(
    expect.objectContaining({ name: 'If-Match', in: 'header', required: false }),
  );
  const conditional = Object.values(paths).flatMap((methods) =>
    Object.entries(methods).filter(([, { parameters }]) => parameters.some((one) => one.in === 'header')),
  );
  expect(new Set(conditional.map(([method]) => method))).toEqual(new Set(['put', 'delete', 'patch', 'post']));
});

it('is valid OpenAPI 3.1 to an independent validator, which refuses a broken document', async () => {
  const { body } = await ask('GET /api/v1/openapi.json');
  const document = JSON.parse(JSON.stringify(body));
  expect(await new Validator().validate(document)).toEqual({ valid: true });
  const broken = structuredClone(document);
  delete broken.paths['/api/v1/kinds'].get.responses;
  broken.paths['/api/v1/kinds'].get.parameters[0].in = 'nowhere';
  expect((await new Validator().validate(broken)).valid).toBe(false);
});
