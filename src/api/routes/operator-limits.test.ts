import { describe, expect, it } from 'vitest';
import { ADMIN, ask, CHAT, caller, ENDPOINTS, withFakeApi } from '../fake-api.fixture.js';

withFakeApi();

const OPERATOR = caller('operator');
/** All rights in one workspace are not those of the machine. */
const WORKSPACE_ADMIN = caller('none', { default: 'admin' });
const CALLERS = [
  ['an operator', OPERATOR],
  ['an operator of the workspace', caller('none', { default: 'operator' })],
  ['an admin of the workspace', WORKSPACE_ADMIN],
] as const;

const endpointOf = (spec: object, name = 'chat') =>
  JSON.stringify({
    ...{ apiVersion: 'twinyard/v1', kind: 'Endpoint', metadata: { name } },
    spec: { engine: { name: 'vllm' }, model: { name: 'acme/tiny' }, replicas: 0, ...spec },
  });

const registryOf = (spec: object) =>
  JSON.stringify({ apiVersion: 'twinyard/v1', kind: 'ModelRegistry', metadata: { name: 'hub' }, spec });

const codeOf = ({ body, status }: Awaited<ReturnType<typeof ask>>) => `${status} ${body.error?.code ?? 'accepted'}`;
const FORBIDDEN = '403 RESOURCE_NEEDS_ADMIN';

const EVERY_ROUTE = [`POST ${ENDPOINTS}`, `PUT ${CHAT}`, 'POST /api/v1/apply', 'POST /api/v1/apply?dry_run=true'];

describe('variables that make programs load code', () => {
  const NAMES =
    'NODE_OPTIONS NODE_PATH LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES PATH PYTHONPATH PYTHONSTARTUP ' +
    'PYTHONHOME PYTHONWARNINGS BASH_ENV ENV IFS PERL5OPT RUBYOPT JAVA_TOOL_OPTIONS GCONV_PATH GLIBC_TUNABLES ' +
    'CUDA_INJECTION64_PATH NCCL_NET_PLUGIN GIT_SSH_COMMAND CC VLLM_PLUGINS ld_preload';

  it.each(NAMES.split(' '))('%s is refused in an endpoint, also of an admin', async (name) => {
    for (const key of ['env', 'secret_env']) {
      for (const as of [OPERATOR, ADMIN]) {
        const { body, status } = await ask(`POST ${ENDPOINTS}`, { as, body: endpointOf({ [key]: { [name]: 'x' } }) });
        expect([status, body.error.code, body.error.problems[0].place]).toEqual([
          422,
          'RESOURCE_INVALID',
          expect.stringContaining(`(spec.${key}.${name})`),
        ]);
      }
    }
  });
});

describe('what needs an admin in every workspace', () => {
  const PARTS: readonly [string, object][] = [
    ['an environment variable that the engine does not allow', { env: { HF_ENDPOINT: 'http://x' } }],
    ['a secret one', { secret_env: { SOME_KEY: 'x' } }],
    ['a proxy', { env: { https_proxy: 'http://x' } }],
    ['code of the model', { variables: { trust_remote_code: true } }],
    ['a Python module', { variables: { kv_transfer_config: { kv_connector_module_path: 'os' } } }],
    ['a file as template', { variables: { chat_template: '/etc/passwd' } }],
    ['a path as tokenizer', { variables: { tokenizer: '/srv/x' } }],
    ['a path as adapter', { variables: { lora_modules: ['a=../../x'] } }],
    ['a path as draft model', { variables: { speculative_config: { model: '/srv/x' } } }],
    ['a path as model', { model: { name: '/srv/x' } }],
    ['a path that leaves its folder', { model: { name: 'a/../../x' } }],
  ];

  it.each(PARTS)('%s', async (_, spec) => {
    for (const [, as] of CALLERS) {
      for (const route of EVERY_ROUTE) expect(codeOf(await ask(route, { as, body: endpointOf(spec) }))).toBe(FORBIDDEN);
    }
    expect(codeOf(await ask(`PUT ${CHAT}`, { body: endpointOf(spec) }))).toBe('201 accepted');
  });

  it('is not a variable that is off, a name in a registry, or what the engine allows', async () => {
    const variables = {
      trust_remote_code: false,
      tokenizer: 'acme/tiny',
      max_model_len: 100,
      lora_modules: ['a=acme/x'],
    };
    const spec = { variables, env: { VLLM_LOGGING_LEVEL: 'DEBUG', TZ: 'UTC' }, secret_env: { HF_TOKEN: 'hf_x' } };
    expect(codeOf(await ask(`PUT ${CHAT}`, { as: OPERATOR, body: endpointOf(spec) }))).toBe('201 accepted');
  });

  it('is what the engine marks: operators set it in a cluster that allows it, except the environment', async () => {
    const cluster = {
      apiVersion: 'twinyard/v1',
      kind: 'Cluster',
      metadata: { name: 'local' },
      spec: { code_loading: 'operator' },
    };
    await ask('PUT /api/v1/clusters/local', { body: JSON.stringify(cluster) });
    const put = (spec: object) => ask(`PUT ${CHAT}`, { as: OPERATOR, body: endpointOf(spec) });
    expect(codeOf(await put({ variables: { trust_remote_code: true } }))).toBe('201 accepted');
    expect(codeOf(await put({ env: { HF_ENDPOINT: 'http://x' } }))).toBe(FORBIDDEN);
  });

  it('is what the engine does not list, where the cluster allows that to admins', async () => {
    const allow = (extra_args: string) => {
      const head = { apiVersion: 'twinyard/v1', kind: 'Cluster', metadata: { name: 'local' } };
      return ask('PUT /api/v1/clusters/local', { body: JSON.stringify({ ...head, spec: { extra_args } }) });
    };
    const body = endpointOf({ variables: { brand_new: 1 } });
    const put = async (as = ADMIN) => codeOf(await ask(`PUT ${CHAT}`, { as, body }));
    expect(await put()).toBe('422 RESOURCE_VARIABLE');
    await allow('admin');
    for (const [, as] of CALLERS) expect(await put(as)).toBe(FORBIDDEN);
    expect(await put()).toBe('201 accepted');
    await allow('operator');
    expect(await put(OPERATOR)).toBe('200 accepted');
    const marked = { as: OPERATOR, body: endpointOf({ variables: { brand_new: 1, trust_remote_code: true } }) };
    expect(codeOf(await ask(`PUT ${CHAT}`, marked))).toBe(FORBIDDEN);
  });

  it('is a patch of its manifest, where the Kubernetes cluster allows that to admins', async () => {
    const allow = (json_patches: string) => {
      const head = { apiVersion: 'twinyard/v1', kind: 'Cluster', metadata: { name: 'k8s' } };
      const spec = { type: 'kubernetes', kubernetes: { kubeconfig: '/none', json_patches } };
      return ask('PUT /api/v1/clusters/k8s', { body: JSON.stringify({ ...head, spec }) });
    };
    const json_patches = [{ op: 'add', path: '/spec/template/spec/hostPID', value: true }];
    const put = async (as = ADMIN, more: object = {}) =>
      codeOf(
        await ask(`PUT ${CHAT}`, { as, body: endpointOf({ cluster: 'k8s', json_patches, replicas: 0, ...more }) }),
      );
    expect(await put(ADMIN, { cluster: 'local' })).toBe('422 RESOURCE_INVALID');
    await allow('none');
    expect(await put()).toBe('422 RESOURCE_INVALID');
    await allow('admin');
    for (const [, as] of CALLERS) expect(await put(as)).toBe(FORBIDDEN);
    expect(await put()).toBe('201 accepted');
    // It runs what the admin applied, and an operator may scale it and nothing more.
    expect(await put(OPERATOR, { replicas: 1 })).toBe('200 accepted');
    expect(await put(OPERATOR, { json_patches: [{ ...json_patches[0], value: false }] })).toBe(FORBIDDEN);
    expect(await put(OPERATOR, { json_patches: [] })).toBe('200 accepted');
    await allow('operator');
    expect(await put(OPERATOR)).toBe('200 accepted');
  });

  it('is refused together with the resource that would allow it', async () => {
    const cluster = {
      apiVersion: 'twinyard/v1',
      kind: 'Cluster',
      metadata: { name: 'local' },
      spec: { code_loading: 'operator' },
    };
    const body = `${JSON.stringify(cluster)}\n---\n${endpointOf({ variables: { trust_remote_code: true } })}`;
    expect(codeOf(await ask('POST /api/v1/apply', { as: OPERATOR, body }))).toBe('403 API_FORBIDDEN');
  });
});

describe('an endpoint that an admin has given more rights', () => {
  const trusted = { variables: { trust_remote_code: true }, model: { name: 'acme/tiny', registry: 'hub' } };

  async function given(): Promise<void> {
    await ask('POST /api/v1/apply', { body: registryOf({ type: 'hugging-face', url: 'https://hub.example' }) });
    await ask(`PUT ${CHAT}`, { body: endpointOf(trusted) });
  }
  const put = async (spec: object) => codeOf(await ask(`PUT ${CHAT}`, { as: OPERATOR, body: endpointOf(spec) }));

  it('can be scaled, routed and deployed otherwise by an operator, and lose those rights', async () => {
    await given();
    expect(codeOf(await ask(`PUT ${CHAT}/scale`, { as: OPERATOR, body: '{"replicas": 0}' }))).toBe('200 accepted');
    expect(await put({ ...trusted, routing: { policy: 'lmetric' }, resources: { gpus: 1 } })).toBe('200 accepted');
    expect(await put({ ...trusted, variables: {} })).toBe('200 accepted');
    expect(await put(trusted)).toBe(FORBIDDEN);
  });

  it.each<[string, object]>([
    ['another model', { model: { name: 'evil/model', registry: 'hub' } }],
    ['no registry', { model: { name: 'acme/tiny' } }],
    ['another version of the model', { model: { name: 'acme/tiny', registry: 'hub', version: 'evil' } }],
    ['another tokenizer', { variables: { trust_remote_code: true, tokenizer: 'evil/model' } }],
    ['another engine', { engine: { name: 'sglang' } }],
    ['another environment', { env: { HF_HUB_OFFLINE: '0' } }],
  ])('does not run %s with them for an operator', async (_, change) => {
    await given();
    expect(await put({ ...trusted, ...change })).toBe(FORBIDDEN);
  });

  it('does not get its model from another address for an operator', async () => {
    await given();
    const url = 'https://evil.example';
    const other = { as: OPERATOR, body: registryOf({ type: 'hugging-face', url }) };
    const path = '/api/v1/workspaces/default/modelregistries/hub';
    expect(codeOf(await ask(`PUT ${path}`, other))).toBe(FORBIDDEN);
    await put({ ...trusted, variables: {} });
    expect(codeOf(await ask(`PUT ${path}`, other))).toBe('200 accepted');
  });
});

it.each<[string, object]>([
  ['spec.model.name', { model: { name: '--trust-remote-code' } }],
  ['spec.model.serve_as', { model: { name: 'a', serve_as: '-x' } }],
  ['spec.variables.lora_modules[1]', { variables: { lora_modules: ['a=b', '--trust-remote-code'] } }],
])('a value of %s cannot become a flag', async (place, spec) => {
  const { body, status } = await ask(`POST ${ENDPOINTS}`, { as: OPERATOR, body: endpointOf(spec) });
  expect([status, body.error.problems[0].place]).toEqual([422, expect.stringContaining(`(${place})`)]);
});

describe('addresses of this machine and of metadata services', () => {
  const externalOf = (...urls: string[]) =>
    JSON.stringify({
      ...{ apiVersion: 'twinyard/v1', kind: 'ExternalEndpoint', metadata: { name: 'away' } },
      spec: { upstreams: urls.map((url, i) => ({ name: `u${i}`, url })) },
    });
  const PATH = '/api/v1/workspaces/default/externalendpoints/away';
  const put = async (as: typeof OPERATOR, body: string) => {
    const response = await ask(`PUT ${PATH}`, { as, body });
    return `${codeOf(response)} ${response.body.spec?.local_addresses ?? ''}`.trim();
  };

  it.each([
    'http://127.0.0.1:8001',
    'http://2130706433',
    'http://[::ffff:7f00:1]:8001/v1',
    'http://169.254.169.254',
    'http://localhost',
  ])('are refused in external endpoints and registries of operators: %s', async (url) => {
    for (const [, as] of CALLERS) {
      expect(await put(as, externalOf('https://api.example', url))).toBe(FORBIDDEN);
      const body = registryOf({ type: 'hugging-face', url });
      for (const route of ['POST /api/v1/apply', 'POST /api/v1/apply?dry_run=true'])
        expect(codeOf(await ask(route, { as, body }))).toBe(FORBIDDEN);
    }
    expect(await put(ADMIN, externalOf(url))).toBe('201 accepted true');
  });

  it('are not reached for an operator who adds an address, and stay allowed otherwise', async () => {
    const [local, other] = ['http://127.0.0.1:8001', 'https://api.example'];
    expect(await put(OPERATOR, externalOf(other))).toBe('201 accepted false');
    expect(await put(ADMIN, externalOf(local, other))).toBe('200 accepted true');
    expect(await put(OPERATOR, externalOf(local))).toBe('200 accepted true');
    expect(await put(OPERATOR, externalOf('https://evil.example'))).toBe('200 accepted false');
    expect(await put(OPERATOR, externalOf(local))).toBe(FORBIDDEN);
  });

  it('cannot be allowed by an operator, and a folder of the machine is one of them', async () => {
    const spec = { type: 'hugging-face', url: 'https://hub.example', local_addresses: true };
    expect(codeOf(await ask('POST /api/v1/apply', { as: OPERATOR, body: registryOf(spec) }))).toBe(FORBIDDEN);
    const folder = registryOf({ type: 'file', url: 'file:///srv' });
    expect(codeOf(await ask('POST /api/v1/apply', { as: OPERATOR, body: folder }))).toBe(FORBIDDEN);
    expect(codeOf(await ask('POST /api/v1/apply', { body: folder }))).toBe('200 accepted');
  });
});
