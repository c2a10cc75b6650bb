import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { parseFlags } from '../src/cli/flags/parse-flags.js';
import { SERVE } from '../src/cli/serve/serve.js';
import { captured } from '../src/cli/test-io.fixture.js';
import { readGatewayConfig } from '../src/gateway/config/read-gateway-config.js';
import { discoveryRules } from '../src/kube/discovery/discovery-rules.js';

const DEPLOY = fileURLToPath(new URL('../deploy', import.meta.url));
const CHART = join(DEPLOY, 'helm/twinyard');
const textOf = (path: string) => readFileSync(join(DEPLOY, path), 'utf8');

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template?: { readonly spec: { readonly containers: readonly { args: string[] }[] } } };
}

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

  helm('gives the rights that its target needs', () => {
    const rights = (...flags: string[]) =>
      template(...flags)
        .find(({ kind }) => kind === 'Role')!
        .rules!.flatMap(({ resources }) => resources);
    expect(rights()).toEqual(['pods']);
    expect(rights('--set', 'kube.selector=null', '--set', 'kube.service=vllm')).toEqual(['endpointslices']);
    expect(rights('--set', 'kube.selector=null', '--set', 'kube.pool=chat')).toEqual(['pods', 'inferencepools']);
  });

  helm('refuses several gateways without a shared store', () => {
    expect(() => template('--set', 'replicas=2')).toThrow('several gateways need a store in PostgreSQL');
    const all = template('--set', 'replicas=2', '--set', 'store.existingSecret=pg');
    expect(serveArgs(all)).toContain('--store=$(TWINYARD_STORE_URL)');
  });
});
