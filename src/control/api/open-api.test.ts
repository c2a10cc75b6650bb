import { expect, it } from 'vitest';
import { ask, withFakeApi } from './fake-api.fixture.js';
import { openApi } from './open-api.js';
import { CONTROL_ROUTES } from './routes.js';

withFakeApi();

interface DescribedOperation {
  operationId: string;
  parameters: { name: string; in: string }[];
  responses: object;
}

it('the API is described by OpenAPI: every route, and every schema that it speaks of', async () => {
  const { body } = await ask('GET /api/v1/openapi.json');
  const document = (await openApi(CONTROL_ROUTES)) as {
    paths: Record<string, Record<string, DescribedOperation>>;
    components: { schemas: object };
  };
  expect(body).toEqual(document);
  for (const { method, path } of CONTROL_ROUTES) expect(document.paths[path]).toHaveProperty(method.toLowerCase());
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
    (match) => match[1]!,
  );
  expect(refs.length).toBeGreaterThan(20);
  for (const name of refs) expect(document.components.schemas).toHaveProperty(name);
  // Classes such as \p{Cc} are not known to every reader.
  const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map((match) => match[1]!);
  expect(patterns.length).toBeGreaterThan(20);
  for (const pattern of patterns) expect(JSON.parse(pattern)).not.toMatch(/\\p\{/i);
  for (const [path, methods] of Object.entries(document.paths)) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    for (const { parameters, responses } of Object.values(methods)) {
      expect(parameters.filter((one) => one.in === 'path').map(({ name }) => name)).toEqual(named);
      expect(Object.keys(responses)).toEqual([expect.stringMatching(/^20\d$/), 'default']);
    }
  }
  const ids = Object.values(document.paths).flatMap((path) => Object.values(path).map((one) => one.operationId));
  expect(new Set(ids).size).toBe(ids.length);
});
