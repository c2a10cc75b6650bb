import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { parseFlags } from '../src/cli/flags/parse-flags.js';
import { SERVE } from '../src/cli/serve/serve.js';
import type { ServeFlags } from '../src/cli/serve/serve-flags.js';
import { captured } from '../src/cli/test-io.fixture.js';
import { readGatewayConfig } from '../src/gateway/config/read-gateway-config.js';
import { discoveryRules } from '../src/kube/discovery/discovery-rules.js';

const DEPLOY = fileURLToPath(new URL('../deploy', import.meta.url));
const CHART = join(DEPLOY, 'helm/twinyard');
const textOf = (path: string) => readFileSync(join(DEPLOY, path), 'utf8');

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly template?: {
      readonly spec: {
        readonly containers: readonly { args: string[] }[];
        readonly initContainers?: readonly { readonly command?: readonly string[] }[];
      };
    };
  };
}

const OPERATOR_KINDS = ['ServiceMonitor', 'PrometheusRule'] as const;
const pluralOf = (kind: string) => `${kind.toLowerCase()}s`;
const definitionName = (kind: string) => `crd/${pluralOf(kind)}.monitoring.coreos.com`;
const definitionOf = (kind: string) => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: ${pluralOf(kind)}.monitoring.coreos.com }
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: { kind: ${kind}, plural: ${pluralOf(kind)} }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`;

const manifests = (text: string) =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((one) => one !== null);
const serveArgs = (all: readonly Manifest[]) =>
  all.find(({ kind }) => kind === 'Deployment')!.spec!.template!.spec.containers[0]!.args;

describe('quickstart.yaml', () => {
  const all = manifests(textOf('quickstart.yaml'));

  test('starts a gateway with flags that are accepted', async () => {
    const [command, ...args] = serveArgs(all);
    expect(command).toBe('serve');
    await parseFlags(SERVE, args);
  });

  test('asks for the rights of every target, and for nothing more', () => {
    const { rules } = all.find(({ kind }) => kind === 'Role')!;
    expect(rules).toEqual(discoveryRules(['selector', 'service', 'pool']));
  });
});

test('the Role of the runner is what the command prints', async () => {
  const { stdout } = await captured('kube-role --runner engines');
  expect(textOf('runner-role.yaml')).toBe(stdout);
});

describe('the chart', () => {
  const values = parse(textOf('helm/twinyard/values.yaml'));
  const check = new Ajv({ allowUnionTypes: true }).compile(JSON.parse(textOf('helm/twinyard/values.schema.json')));

  test('has a schema for every value, and refuses others', () => {
    expect(check(values), JSON.stringify(check.errors)).toBe(true);
    expect(check({ ...values, replica: 2 })).toBe(false);
    expect(check({ ...values, replicas: 0 })).toBe(false);
  });

  const hasHelm = spawnSync('helm', ['version']).error === undefined;
  const template = (...flags: string[]) =>
    manifests(execFileSync('helm', ['template', 'ty', CHART, ...flags], { encoding: 'utf8' }));
  const configOf = (all: readonly Manifest[]) => all.find(({ kind }) => kind === 'ConfigMap')!.data!['twinyard.yaml']!;
  const helm = test.skipIf(!hasHelm);

  helm('renders a configuration and flags that are accepted', async () => {
    const all = template('--set', 'record=true', '--set', 'config.limits.body_bytes=2048');
    const config = readGatewayConfig(configOf(all), '/etc/twinyard/twinyard.yaml');
    expect(config.endpoints[0]!.kube!.target).toMatchObject({ by: 'selector', value: 'app=vllm' });
    expect([config.limits.bodyBytes, config.record!.path]).toEqual([2048, '/var/lib/twinyard/traffic.jsonl']);
    await parseFlags(SERVE, serveArgs(all).slice(1));
  });

  /** Namespaces and rules of Roles: what counts of them. */
  const rightsIn = (all: readonly Manifest[]) =>
    all
      .filter(({ kind }) => kind.endsWith('Role'))
      .map(({ metadata: { namespace = '' }, rules }) => JSON.stringify({ namespace, rules }))
      .sort();
  const named = (...sets: string[]) => template(...sets.flatMap((one) => ['--set', one]), '--namespace', 'prod');

  helm.each([
    [[], '--kube selector=app=vllm'],
    [['kube.selector=null', 'kube.service=vllm'], '--kube service=vllm'],
    [['kube.selector=null', 'kube.pool=chat', 'kube.namespace=engines'], '--kube pool=chat,namespace=engines'],
    [['store.existingSecret=pg'], '--kube selector=app=vllm --leader-lease prod/ty-twinyard'],
    [['store.existingSecret=pg', 'leaderElection.enabled=false'], '--kube selector=app=vllm'],
    [
      ['store.existingSecret=pg', 'kube.selector=null', 'runner.namespaces={engines}', 'runner.nodes=true'],
      '--leader-lease prod/ty-twinyard --runner engines --nodes',
    ],
  ])('with %j gives the rights that kube-role %s prints, and no others', async (sets, flags) => {
    const { stdout } = await captured(`kube-role ${flags} --namespace prod`);
    expect(rightsIn(named(...sets))).toEqual(rightsIn(manifests(stdout)));
  });

  const full = ['--values', join(CHART, 'ci/full-values.yaml')];
  helm('elects the control plane by a Lease, with one key for all and the address of each', async () => {
    const all = template(...full, '--namespace', 'prod');
    expect(check(parse(textOf('helm/twinyard/ci/full-values.yaml'))), JSON.stringify(check.errors)).toBe(true);
    const config = readGatewayConfig(configOf(all), '/etc/twinyard/twinyard.yaml');
    expect(config.leaderLease).toMatchObject({ namespace: 'prod', name: 'ty-twinyard' });
    const flags = await parseFlags<ServeFlags>(SERVE, serveArgs(all).slice(1));
    expect(flags.values['admin-url']).toBe('http://$(POD_IP):8081');
    const { spec } = all.find(({ kind }) => kind === 'Deployment')!.spec!.template!;
    expect(spec.initContainers![0]!.command!.slice(-2)).toEqual([
      '/etc/twinyard-key/secrets.key',
      `${config.dataDir}/secrets.key`,
    ]);
    expect(JSON.stringify(all)).not.toContain('postgres://');
  });

  helm('refuses a runner without a store, and a gateway with nothing to serve', () => {
    expect(() => named('runner.namespaces={engines}')).toThrow('a control plane needs a store');
    expect(() => named('kube.selector=null')).toThrow('nothing to serve');
  });

  helm('passes helm lint with default and with full values', () => {
    for (const flags of [[], full]) execFileSync('helm', ['lint', '--strict', CHART, ...flags], { stdio: 'pipe' });
  });

  const KUBECONFIG = process.env.TWINYARD_TEST_KUBECONFIG;
  const hasKubectl = spawnSync('kubectl', ['version', '--client']).error === undefined;
  describe.skipIf(KUBECONFIG === undefined || !hasHelm || !hasKubectl)('with a real API server', () => {
    const kubectl = (args: readonly string[], input = '') =>
      execFileSync('kubectl', ['--kubeconfig', KUBECONFIG!, ...args], { input, encoding: 'utf8', stdio: 'pipe' });
    const namespaces = ['engines', 'batch', `twinyard-chart-${process.pid}`];
    const existing = () => kubectl(['get', 'namespaces', '-o', 'name']);

    beforeAll(() => {
      const before = existing();
      const made = namespaces.filter((one) => !before.includes(`namespace/${one}\n`));
      for (const one of made) kubectl(['create', 'namespace', one]);
      // The kinds of the Prometheus operator, with any content.
      kubectl(['apply', '-f', '-'], OPERATOR_KINDS.map(definitionOf).join('---\n'));
      kubectl(['wait', '--for=condition=Established', '--timeout=60s', ...OPERATOR_KINDS.map(definitionName)]);
      return () => kubectl(['delete', 'namespace', '--wait=false', ...made]);
    });

    test.each([
      ['default values', []],
      ['full values', full],
      [
        'alerts and the board',
        [
          ...['--set-file', `metrics.rules=${join(DEPLOY, 'prometheus/twinyard.rules.yaml')}`],
          ...['--set-file', `metrics.board=${join(DEPLOY, 'grafana/twinyard.json')}`],
        ],
      ],
    ])(
      'a server-side dry run accepts %s',
      (_, flags) => {
        const namespace = namespaces[2]!;
        const text = execFileSync('helm', ['template', 'ty', CHART, '--namespace', namespace, ...flags], {
          encoding: 'utf8',
        });
        const lines = kubectl(['apply', '--dry-run=server', '-f', '-'], text).trim().split('\n');
        expect(lines).toHaveLength(manifests(text).length);
        for (const line of lines) expect(line).toMatch(/ created \(server dry run\)$/);
      },
      60_000,
    );

    test('a server-side dry run accepts quickstart.yaml', () => {
      const lines = kubectl(['apply', '--dry-run=server', '-n', namespaces[2]!, '-f', join(DEPLOY, 'quickstart.yaml')]);
      expect(lines.trim().split('\n')).toHaveLength(manifests(textOf('quickstart.yaml')).length);
    });
  });

  helm('refuses several gateways without a shared store', () => {
    expect(() => template('--set', 'replicas=2')).toThrow('several gateways need a store in PostgreSQL');
    const all = template('--set', 'replicas=2', '--set', 'store.existingSecret=pg');
    expect(serveArgs(all)).toContain('--store=$(TWINYARD_STORE_URL)');
  });
});
