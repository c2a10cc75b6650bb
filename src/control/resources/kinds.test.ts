import { describe, expect, it } from 'vitest';
import { REGISTRY_KINDS } from '../models/registry.js';
import { checkResource } from './check-resource.js';
import { kindContract } from './kind.contract.js';
import { endpointPolicy } from './kinds/endpoint.js';
import { REGISTRY_TYPES } from './kinds/model-registry.js';
import { findKind, KINDS, kindNamed } from './kinds.js';
import { memoryBytes } from './parts.js';

for (const kind of KINDS) kindContract(kind);

const at = (path: string) => `here (${path})`;

/** Messages about what is wrong with a spec. */
function wrong(kind: string, spec: unknown): string[] {
  const checked = checkResource({ apiVersion: 'twinyard/v1', kind, metadata: { name: 'a' }, spec }, at);
  return 'problems' in checked ? checked.problems.map(({ message }) => message) : [];
}

describe('kinds', () => {
  it('are found by any of their names, and no two share one', () => {
    const names = KINDS.flatMap(({ kind, plural, shortNames }) => [kind.toLowerCase(), plural, ...shortNames]);
    expect(new Set(names).size).toBe(names.length);
    expect(findKind('EP')?.kind).toBe('Endpoint');
    expect(kindNamed('endpoints', 'here').kind).toBe('Endpoint');
    expect(() => kindNamed('endpiont', 'here')).toThrow("here: unknown kind 'endpiont'; did you mean 'endpoint'?");
    expect(() => kindNamed('pods', 'here')).toThrow(
      /^here: unknown kind 'pods'; known: workspaces \(ws\), roles, apikeys \(key, keys\), engines \(eng\), /,
    );
  });

  it('list the registries that can be opened', () => {
    expect(REGISTRY_KINDS.map(({ name }) => name).sort()).toEqual([...REGISTRY_TYPES].sort());
  });
});

const ENDPOINT = { engine: { name: 'vllm' }, model: { name: 'm' } };

describe('Endpoint', () => {
  it('reports all problems at once', () => {
    const spec = { ...ENDPOINT, replicas: -1, resources: { memory: '16G' }, placement: 'sprad', env: { 'a-b': 'x' } };
    expect(wrong('Endpoint', spec)).toEqual([
      "here (spec.resources.memory): '16G' is not valid; give an amount such as '512Mi', '16Gi' or '48.0 GiB'",
      'here (spec.replicas): -1 is too small; give a whole number from 0 to 1000',
      "here (spec.placement): unknown value 'sprad'; did you mean 'spread'? known: pack, spread",
      'here (spec.env.a-b): the name is not valid; give the name of an environment variable',
    ]);
    expect(wrong('Endpoint', { engine: {}, model: { name: 1 } })).toEqual([
      'here (spec.engine.name): is missing; give a name of a-z, 0-9 and -, at most 63 characters',
      'here (spec.model.name): 1 is not text; give text of at most 200 characters',
    ]);
  });

  it.each(['env', 'secret_env'])('refuses more than 256 variables in %s', (key) => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`V${i}`, 'x']));
    expect(wrong('Endpoint', { ...ENDPOINT, [key]: many(256) })).toEqual([]);
    expect(wrong('Endpoint', { ...ENDPOINT, [key]: many(257) })).toEqual([
      `here (spec.${key}): has more than 256 variables; put them in a file`,
    ]);
  });

  it('refuses 1.5 GPUs, updates that could not start, and an environment variable given twice', () => {
    const deployment = { max_surge: 0, max_unavailable: 0 };
    const twice = { env: { TOKEN: 'a' }, secret_env: { TOKEN: 'b' } };
    expect(wrong('Endpoint', { ...ENDPOINT, ...twice, deployment, resources: { gpus: 1.5 } })).toEqual([
      'here (spec.resources.gpus): 1.5 is not a number of GPUs; give a share below 1, or a whole number',
      'here (spec.deployment.max_surge): updates could not start; set max_surge or max_unavailable above 0',
      'here (spec.secret_env.TOKEN): is also in env; keep one of the two',
    ]);
    expect(wrong('Endpoint', { ...ENDPOINT, resources: { gpus: 0.5 } })).toEqual([]);
  });

  it('takes the sections of a policy file, and names the place of their problems', () => {
    expect(wrong('Endpoint', { ...ENDPOINT, routing: { policy: 'chwbll' } })[0]).toContain(
      'here (spec.routing.policy)',
    );
    expect(wrong('Endpoint', { ...ENDPOINT, routing: { polcy: 'x' } })[0]).toContain("did you mean 'policy'?");
    expect(wrong('Endpoint', { ...ENDPOINT, admission: { policy: 'never' } })[0]).toContain('spec.admission.policy');
    expect(wrong('Endpoint', { ...ENDPOINT, flow_control: { max_concurrency: -1 } })[0]).toContain('is too small');
    const policy = endpointPolicy(
      { routing: { policy: 'round-robin' }, admission: { policy: 'always-admit' }, flow_control: {} },
      at,
    );
    expect(policy).toMatchObject({
      name: 'round-robin',
      admission: { policy: 'always-admit' },
      flowControl: { maxConcurrency: 100 },
    });
  });
});

it('messages repeat the value that was given, unless it may be secret', () => {
  const upstream = { name: 'a', url: 'https://a', credential: 'a b' };
  expect(wrong('ExternalEndpoint', { upstreams: [upstream] })[0]).toMatch(
    /^here \(spec\.upstreams\[0\]\.credential\): is not a valid secret; give a secret/,
  );
  expect(wrong('Endpoint', { ...ENDPOINT, secret_env: 'hush' })[0]).toBe(
    'here (spec.secret_env): is not a map; give variables, each with a secret without zero bytes',
  );
  expect(wrong('Endpoint', { ...ENDPOINT, env: { A: 5 } })[0]).toBe(
    'here (spec.env.A): 5 is not text; give text without zero bytes',
  );
  const long = 'x'.repeat(100);
  expect(wrong('ApiKey', { expires_at: long })[0]).toContain(`: '${'x'.repeat(57)}...' is not a time`);
});

describe('Engine', () => {
  const version = { tasks: ['text-generation'], command: ['x'], metrics: 'vllm' };

  it('has versions, one of which is the default', () => {
    expect(wrong('Engine', { versions: {} })).toEqual(['here (spec.versions): is empty; give at least one version']);
    expect(wrong('Engine', { default_version: 'b', versions: { a: version } })).toEqual([
      "here (spec.default_version): there is no version 'b'; give one of a",
    ]);
  });

  it('has so few parameters that compiling their schemas does not delay requests', () => {
    const parameters = (count: number) => ({
      properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { type: 'integer' }])),
    });
    const both = (count: number) =>
      wrong('Engine', {
        versions: { a: { ...version, parameters: parameters(100) }, b: { ...version, parameters: parameters(count) } },
      });
    expect(both(398)).toEqual([]);
    expect(both(399)).toEqual([
      'here (spec.versions): the parameters of all versions hold more than 1000 values; split it into several engines',
    ]);
  });

  it('has a command whose placeholders are known, and parameters that are a JSON Schema', () => {
    const versions = { a: { ...version, command: ['x', ['--tp', '{tensor_paralel}']], parameters: { type: 'objct' } } };
    const [schema, command] = wrong('Engine', { versions });
    expect(schema).toMatch(/^here \(spec\.versions\.a\.parameters\): schema is invalid.*; give a JSON Schema$/);
    expect(command).toMatch(
      /^here \(spec\.versions\.a\.command\[1\]\): unknown placeholder \{tensor_paralel\}; give one of/,
    );
    expect(wrong('Engine', { versions: { a: { ...version, command: ['x', [1]] } } })[0]).toContain('command[1][0]');
  });
});

describe('ModelRegistry', () => {
  it('is a folder or a hub, not both', () => {
    expect(wrong('ModelRegistry', { type: 'file', url: 'https://a', token: 't' })).toEqual([
      "here (spec.url): is not a file URL; give one such as 'file:///models'",
      'here (spec.token): a folder takes no token; leave it out',
    ]);
    expect(wrong('ModelRegistry', { type: 'hugging-face', url: 'file:///a' })[0]).toContain('is a folder');
    expect(wrong('ModelRegistry', { type: 'hugging-face', url: 'https://user:pw@host' })[0]).not.toContain('pw');
  });
});

describe('ExternalEndpoint', () => {
  it('needs upstreams with different names, one of them with a weight', () => {
    const upstream = { name: 'a', url: 'https://a', weight: 0 };
    expect(wrong('ExternalEndpoint', { upstreams: [upstream, upstream] })).toEqual([
      "here (spec.upstreams[1].name): the name 'a' is used twice; rename one of the two",
      'here (spec.upstreams): all weights are 0; give one upstream a weight above 0',
    ]);
    expect(wrong('ExternalEndpoint', { upstreams: [] })).toEqual([
      'here (spec.upstreams): is empty; give a list of at most 100 entries with the keys name, url, credential, weight, tier, models',
    ]);
  });
});

describe('ApiKey', () => {
  it('becomes the settings of a stored key', () => {
    const spec = {
      role: 'viewer' as const,
      limits: { '*': { tokens_per_day: 5 } },
      expires_at: '2030-01-01T00:00:00Z',
    };
    expect(wrong('ApiKey', spec)).toEqual([]);
    expect(wrong('ApiKey', { expires_at: 'tomorrow' })[0]).toContain(
      "'tomorrow' is not a time; give a time, as in 2030-01-31T00:00:00Z",
    );
  });
});

it('amounts of memory are bytes', () => {
  expect([memoryBytes('512Mi'), memoryBytes('1.5Gi'), memoryBytes('2Ti')]).toEqual([
    512 * 2 ** 20,
    1.5 * 2 ** 30,
    2 * 2 ** 40,
  ]);
});

it('refuses a value that is not a resource', () => {
  const problem = (value: unknown) =>
    (checkResource(value, at) as unknown as { problems: Error[] }).problems[0]!.message;
  expect(problem([])).toBe("here (): is not a resource; begin with 'apiVersion: twinyard/v1'");
  expect(problem({})).toContain('here (kind): is missing; give one of Workspace');
  expect(problem({ kind: 'endpoint' })).toContain("did you mean 'Endpoint'?");
  expect(problem({ apiVersion: 'v1', kind: 'Workspace', metadata: { name: 'a' }, spec: {} })).toContain(
    'known: twinyard/v1',
  );
});

describe('Cluster', () => {
  const RAY = { type: 'ray', ray: { url: 'http://10.0.0.1:8265' } };

  it('of type ray needs the dashboard, and a range of ports', () => {
    expect(wrong('Cluster', RAY)).toEqual([]);
    expect(wrong('Cluster', { ...RAY, ray: { ...RAY.ray, token: 'hush', ports: '30000-30000' } })).toEqual([]);
    expect(wrong('Cluster', { type: 'ray' })).toEqual([
      "here (spec.ray): is missing; give the dashboard, such as 'url: http://10.0.0.1:8265'",
    ]);
    for (const ports of ['31000-30000', '0-1', '65000-70000']) {
      expect(wrong('Cluster', { ...RAY, ray: { ...RAY.ray, ports } })).toEqual([
        "here (spec.ray.ports): is not a range of ports; give one such as '30000-30999'",
      ]);
    }
    expect(wrong('Cluster', { ...RAY, ray: { url: '10.0.0.1:8265' } })).toEqual([
      "here (spec.ray.url): '10.0.0.1:8265' is not valid; give a URL such as 'http://10.0.0.1:8265'",
    ]);
  });

  it('has settings of its own type only', () => {
    expect(wrong('Cluster', { type: 'kubernetes', ray: RAY.ray })).toEqual([
      "here (spec.ray): has no meaning for type 'kubernetes'; give 'type: ray'",
    ]);
    expect(wrong('Cluster', { ...RAY, kubernetes: {} })).toEqual([
      "here (spec.kubernetes): has no meaning for type 'ray'; give 'type: kubernetes'",
    ]);
  });
});
