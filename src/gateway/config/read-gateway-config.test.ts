import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { flowControlOf } from '../../policy/bundle/flow-control-schema.js';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS } from './gateway-config.js';
import { readGatewayConfig } from './read-gateway-config.js';

const read = (text: string) => readGatewayConfig(text, 'conf/t.yaml');

describe('readGatewayConfig', () => {
  it('reads the example', () => {
    const text = readFileSync(new URL('../../../examples/twinyard.yaml', import.meta.url), 'utf8');
    const config = read(text);
    expect(
      config.endpoints.map(({ name, policy, replicas }) => [name, policy.name, replicas.map(({ id }) => id)]),
    ).toEqual([
      ['default', 'unified', ['127.0.0.1:9001', '127.0.0.1:9002']],
      ['reports', 'least-loaded', ['night']],
    ]);
    expect(config.limits).toEqual({ ...GATEWAY_DEFAULTS.limits, bodyBytes: 4_194_304 });
    expect(config.timeouts).toEqual({ ...GATEWAY_DEFAULTS.timeouts, firstByteMs: 60_000, totalMs: 600_000 });
    expect(config.retries.most).toBe(1);
  });

  it('applies the defaults', () => {
    const config = read('replicas: [{ url: "http://h:1", model: m, engine: tgi }]');
    const replicas = [{ id: 'h:1', url: 'http://h:1', engine: 'tgi', models: ['m'] }];
    expect(config).toEqual({ ...GATEWAY_DEFAULTS, endpoints: [{ name: 'default', policy: DEFAULT_POLICY, replicas }] });
  });

  it('reads policies as policy files have them, one for all and others instead', () => {
    const bundle = readFileSync(new URL('../../../examples/policy-bundle.yaml', import.meta.url), 'utf8');
    const indented = bundle.replace(/^(?=.)/gm, '  ');
    const lines: string[] = [];
    const text = `policy:\n${indented}\nreplicas: [{ url: "http://h:1" }]\nendpoints:\n  - name: e\n    policy: { flow_control: { max_concurrency: 5 } }\n    replicas: [{ url: "http://h:2" }]\n`;
    const { endpoints } = readGatewayConfig(text, 't.yaml', (line) => lines.push(line));
    expect(endpoints.map(({ policy }) => policy)).toEqual([
      {
        ...DEFAULT_POLICY,
        name: 'weighted',
        options: { scorers: 'prefix-affinity:2,queue-depth:1', tie_break: 'random' },
        admission: { policy: 'tier-shed', options: { threshold: 60, min_priority: 3 } },
        tenantBudgets: { reports: 0.02 },
      },
      { ...DEFAULT_POLICY, flowControl: { ...flowControlOf({}, {}), maxConcurrency: 5 } },
    ]);
    expect(lines).toEqual([
      expect.stringMatching(/^t\.yaml:\d+:\d+ \(policy\.scheduler\): has no effect live/),
      expect.stringMatching(/^t\.yaml:\d+:\d+ \(policy\.preemption\): has no effect live/),
    ]);
  });

  it('resolves paths relative to itself', () => {
    const config = read(
      'listen: { cert: a.pem, key: b.pem }\ndecision_log: d.jsonl\nreplicas: [{ url: "http://h:1" }]',
    );
    expect(config.listen.tls).toEqual({
      cert: expect.stringMatching(/\/conf\/a\.pem$/),
      key: expect.stringMatching(/\/conf\/b\.pem$/),
    });
    expect(config.decisionLog).toMatch(/\/conf\/d\.jsonl$/);
  });

  it('names the Lease that elects the control plane, and refuses what is none', () => {
    expect(read('store: a.db').leaderLease).toBeNull();
    const { leaderLease } = read('store: a.db\nleader_lease: prod/twinyard,kubeconfig=kube/config\n');
    expect(leaderLease).toMatchObject({ namespace: 'prod', name: 'twinyard', context: null });
    expect(leaderLease!.kubeconfig).toMatch(/\/conf\/kube\/config$/);
    expect(() => read('store: a.db\nleader_lease: A_B\n')).toThrow(
      "conf/t.yaml:2:15 (leader_lease): 'A_B' is not a name",
    );
  });

  it('finds replicas in clusters, for the default endpoint and for others', () => {
    const { endpoints } = read(
      'kube: { selector: "app=vllm", kubeconfig: kube/config }\nendpoints: [{ name: e, kube: { pool: p, namespace: n, engine: sglang } }]',
    );
    const unset = { namespace: null, ports: [], kubeconfig: null, context: null };
    expect(endpoints.map(({ kube, name, replicas }) => [name, replicas, kube])).toEqual([
      [
        'default',
        [],
        {
          target: {
            ...unset,
            by: 'selector',
            value: 'app=vllm',
            kubeconfig: expect.stringMatching(/conf\/kube\/config$/),
          },
          engine: 'vllm',
        },
      ],
      ['e', [], { target: { ...unset, by: 'pool', value: 'p', namespace: 'n' }, engine: 'sglang' }],
    ]);
  });

  it('finds replicas of Ray Serve, for the default endpoint and for others', () => {
    const { endpoints } = read(
      'ray_serve: { url: "http://h:8265/", app: chat, token_file: t, ca_file: c }\nendpoints: [{ name: e, ray_serve: { url: "http://o:1", engine: sglang } }]',
    );
    const files = {
      tokenFile: expect.stringMatching(/conf\/t$/) as string,
      caFile: expect.stringMatching(/conf\/c$/) as string,
    };
    expect(endpoints.map(({ name, rayServe, replicas }) => [name, replicas, rayServe])).toEqual([
      ['default', [], { target: { url: 'http://h:8265', app: 'chat', ...files }, engine: 'vllm' }],
      ['e', [], { target: { url: 'http://o:1', app: null, tokenFile: null, caFile: null }, engine: 'sglang' }],
    ]);
  });

  it.each([
    ['twinyard.db', /\/conf\/twinyard\.db$/, /\/conf\/\.twinyard$/],
    ['.twinyard/twinyard.db', /\/conf\/\.twinyard\/twinyard\.db$/, /\/conf\/\.twinyard$/],
    ['sqlite:twinyard.db', /\/conf\/twinyard\.db$/, /\/conf\/\.twinyard$/],
    ['sqlite:///var/twinyard.db', /^\/var\/twinyard\.db$/, /^\/var\/\.twinyard$/],
    ['"sqlite::memory:"', /^:memory:$/, /^\.twinyard$/],
    ['postgres://u@h/d', /^postgres:\/\/u@h\/d$/, /^\.twinyard$/],
    ['sqlite://twinyard.db', /\/conf\/twinyard\.db$/, /\/conf\/\.twinyard$/],
  ])('resolves the store %s, and puts the data beside a file', (address, store, dataDir) => {
    const config = read(`store: ${address}\nreplicas: [{ url: "http://h:1" }]`);
    expect([config.store, config.dataDir]).toEqual([expect.stringMatching(store), expect.stringMatching(dataDir)]);
    expect(config.access.keys).toBe('required');
  });

  it('refuses a store that is neither SQLite nor PostgreSQL, with its line', () => {
    expect(() => read('data_dir: d\nstore: mysql://u@h/d')).toThrow(
      /:2:\d+ \(store\): is neither SQLite nor PostgreSQL; give a path/,
    );
  });

  it('limits the replicas of an endpoint', () => {
    const replicas = Array.from({ length: 1025 }, (_, i) => `  - { url: "http://h:${1000 + i}" }`).join('\n');
    expect(() => read(`replicas:\n${replicas}`)).toThrowError(
      expect.objectContaining({ code: 'TOO_MANY_REPLICAS', problem: 'more than 1024 replicas' }),
    );
  });

  it.each([
    ['', 'conf/t.yaml', 'holds no keys'],
    ['replicas: [', 'conf/t.yaml:1:12', 'Flow sequence'],
    ['replica: []', 'conf/t.yaml:1:1 (replica)', "unknown key 'replica'"],
    ['replicas: [{ id: a }]', 'conf/t.yaml:1:12 (replicas[0].url)', 'is missing'],
    [
      'http: { trusted_proxies: [10.0.0.0/33] }',
      'conf/t.yaml:1:27 (http.trusted_proxies[0])',
      'is not an address or network',
    ],
    ['kube: { namespace: a }', 'conf/t.yaml:1:1 (kube)', 'does not say what to look for'],
    ['kube: { service: a, pool: b }', 'conf/t.yaml:1:1 (kube)', 'has both service and pool'],
    ['kube: { service: A_B }', 'conf/t.yaml:1:1 (kube)', 'is not a name in Kubernetes'],
    ['ray_serve: { app: a }', 'conf/t.yaml:1:1 (ray_serve.url)', 'is missing'],
    ['ray_serve: { url: "head:8265" }', 'conf/t.yaml:1:1 (ray_serve)', 'is not the URL of a dashboard'],
    ['kube: { pool: p }\nray_serve: { url: "http://h:1" }', 'conf/t.yaml:2:1 (ray_serve)', 'is given beside kube'],
    ['endpoints: [{ name: b/chat, kube: { pool: p } }]', 'conf/t.yaml:1:21 (endpoints[0].name)', "has a '/'"],
    ['endpoints: [{ name: a }]', 'conf/t.yaml:1:13 (endpoints[0])', 'has no replicas'],
    ['listen: { client_ca: ca.pem }', 'conf/t.yaml:1:22 (listen.client_ca)', 'is given without TLS'],
    ['replica_tls: { cert: a.pem }', 'conf/t.yaml:1:1 (replica_tls)', 'has one of cert and key'],
    ['http: { hosts: ["https://a.b"] }', 'conf/t.yaml:1:17 (http.hosts[0])', 'is not valid'],
    ['replicas: [{ url: "not one" }]', 'conf/t.yaml:1:19 (replicas[0].url)', 'is not a URL'],
    ['replicas: [{ url: "ftp://h:1" }]', 'conf/t.yaml:1:19 (replicas[0].url)', 'more or less than an address'],
    ['replicas: [{ url: "http://h:1/v1" }]', 'conf/t.yaml:1:19 (replicas[0].url)', 'more or less than an address'],
    [
      'replicas: [{ url: "http://h:1" }, { url: "http://h:1" }]',
      'conf/t.yaml:1:42 (replicas[1].url)',
      "two replicas 'h:1'",
    ],
    ['replicas: [{ url: "http://h:1", engine: vlm }]', 'conf/t.yaml:1:41 (replicas[0].engine)', "unknown value 'vlm'"],
    [
      'policy: { routing: { policy: wighted } }',
      'conf/t.yaml:1:30 (policy.routing.policy)',
      "unknown routing policy 'wighted'",
    ],
    ['policy: { routing: { options: { scorer: x } } }', 'conf/t.yaml:1:22 (policy.routing.options)', "'scorer'"],
    [
      'policy: { admission: { policy: tire-shed } }',
      'conf/t.yaml:1:32 (policy.admission.policy)',
      "unknown admission policy 'tire-shed'",
    ],
    [
      'policy: { flow_control: { max_queue_depth: 0 } }',
      'conf/t.yaml:1:44 (policy.flow_control.max_queue_depth)',
      'too small',
    ],
    ['listen: { port: 70000 }', 'conf/t.yaml:1:17 (listen.port)', 'too large'],
    ['listen: { cert: a.pem }', 'conf/t.yaml:1:1 (listen)', 'has one of cert and key'],
    ['timeouts: { total_ms: 0 }', 'conf/t.yaml:1:23 (timeouts.total_ms)', 'too small'],
    ['retries: { budget: 2 }', 'conf/t.yaml:1:20 (retries.budget)', 'too large'],
    [
      'replicas: [{ url: "http://h:1" }]\nendpoints:\n  - { name: default, replicas: [{ url: "http://h:2" }] }',
      'conf/t.yaml:3:13 (endpoints[0].name)',
      "two endpoints 'default'",
    ],
  ])('reports the place of the error in %j', (text, place, problem) => {
    expect(() => read(text)).toThrowError(
      expect.objectContaining({ place, problem: expect.stringContaining(problem) }),
    );
  });
});
