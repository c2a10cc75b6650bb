import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeHub } from '../../control/models/fake-hub.fixture.js';
import { safetensors, tinyModel } from '../../control/models/fake-model.fixture.js';
import { ask, caller, withFakeApi } from '../fake-api.fixture.js';

withFakeApi();

describe('models of a registry', () => {
  const MODELS = '/api/v1/workspaces/default/modelregistries/hub/models';
  let hub: FakeHub;
  beforeEach(async () => {
    hub = await FakeHub.start();
    const weights = safetensors({ weight: { dtype: 'BF16', shape: [8, 8] } });
    hub.put('acme/tiny', 'main', { ...tinyModel('seed'), 'model.safetensors': weights });
    hub.token = 'hf_hush';
    const spec = { type: 'hugging-face', url: hub.url, token: 'hf_hush' };
    const body = { apiVersion: 'twinyard/v1', kind: 'ModelRegistry', metadata: { name: 'hub' }, spec };
    await ask('POST /api/v1/workspaces/default/modelregistries', { body });
  });
  afterEach(() => hub.stop());

  it('are listed, and described without being fetched', async () => {
    expect((await ask(`GET ${MODELS}?search=TIN&limit=5`)).body).toEqual({
      ...{ kind: 'ModelList', items: [{ name: 'acme/tiny', versions: [] }], next: null },
    });
    expect((await ask(`GET ${MODELS}?search=none`)).body.items).toEqual([]);
    expect((await ask(`GET ${MODELS}/acme%2Ftiny?version=main`)).body).toMatchObject({
      ...{ kind: 'Model', name: 'acme/tiny', version: 'main', revision: expect.stringMatching(/^[0-9a-f]{40}$/) },
      ...{ layers: 2, kv_heads: 2, dtype: 'bfloat16', parameters: 64 },
      files: expect.arrayContaining([expect.objectContaining({ path: 'config.json' })]),
    });
  });

  it('are refused with what the registry says', async () => {
    const asked = async (path: string) => {
      const { body, status } = await ask(`GET ${path}`);
      return [status, (body.error as { code: string }).code];
    };
    expect(await asked(`${MODELS}/acme%2Fnone`)).toEqual([404, 'MODEL_NOT_FOUND']);
    expect(await asked(`${MODELS}/acme%2Ftiny?version=v9`)).toEqual([404, 'MODEL_VERSION_NOT_FOUND']);
    expect(await asked(`${MODELS}/..%2F..`)).toEqual([400, 'MODEL_NAME']);
    expect(await asked(`${MODELS}?limit=0`)).toEqual([400, 'API_QUERY']);
    expect(await asked(MODELS.replace('hub', 'none'))).toEqual([404, 'RESOURCE_UNKNOWN']);
    hub.token = 'another';
    expect(await asked(MODELS)).toEqual([502, 'REGISTRY_TOKEN_REFUSED']);
    expect((await ask(`GET ${MODELS}`, { as: caller('viewer') })).status).toBe(403);
  });
});
