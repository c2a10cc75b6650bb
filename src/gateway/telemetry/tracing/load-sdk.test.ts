import { expect, it } from 'vitest';
import { loadSdk } from './load-sdk.js';

const failing = (code: string) => () => Promise.reject(Object.assign(new Error('cannot load'), { code }));

it('loads the packages where they are installed', async () => {
  const { api, sdk } = await loadSdk();
  expect(api.trace).toBeDefined();
  expect(sdk.NodeTracerProvider).toBeDefined();
});

it('reports how to install them where they are missing', async () => {
  const missing = failing('ERR_MODULE_NOT_FOUND');
  const packages = { api: missing, sdk: missing, exporter: missing, resources: missing } as never;
  await expect(loadSdk(packages)).rejects.toMatchObject({
    code: 'TRACING_NOT_INSTALLED',
    message: expect.stringMatching(
      /^tracing: the OpenTelemetry SDK is not installed; run 'npm install @opentelemetry\/api@[\d.]+ .*sdk-trace-node@[\d.]+'$/,
    ),
  });
});

it('hides no other fault', async () => {
  const broken = failing('ERR_OTHER');
  await expect(loadSdk({ api: broken, sdk: broken, exporter: broken, resources: broken } as never)).rejects.toThrow(
    'cannot load',
  );
});
