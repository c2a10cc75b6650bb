import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { COMMAND_LINES } from '../src/cli/command-lines.js';
import { parseFlags } from '../src/cli/flags/parse-flags.js';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS } from '../src/gateway/config/gateway-config.js';
import { readGatewayConfig } from '../src/gateway/config/read-gateway-config.js';
import { parseExposition } from '../src/gateway/telemetry/exposition.fixture.js';
import { FAMILIES } from '../src/gateway/telemetry/metric-families.js';
import type { MetricFamily } from '../src/gateway/telemetry/metric-family.js';
import { newKey } from '../src/store/keys/new-key.fixture.js';
import { POSTGRES_PROGRAMS, startPostgres } from '../src/store/postgres.fixture.js';
import { fakeEngine, question } from './support/engine-fixture.js';
import { afterwards, gatewayOver } from './support/gateway-fixture.js';
import { groupingOf, labelsPrinted, metricsIn } from './support/named-metrics.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const textOf = (path: string) => readFileSync(join(ROOT, 'deploy', path), 'utf8');

interface Board {
  readonly templating: { readonly list: readonly { readonly query: string }[] };
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}
interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly hint: string };
}

const board: Board = JSON.parse(textOf('grafana/twinyard.json'));
const rules: readonly Rule[] = parse(textOf('prometheus/twinyard.rules.yaml')).groups.flatMap(
  ({ rules }: { rules: Rule[] }) => rules,
);
const targets = board.panels.flatMap(({ targets = [] }) => targets);

/** Prometheus adds these to every scraped sample. */
const SCRAPED = ['instance', 'job'];

/** What a gateway exposes with every part that the board and the alerts are about: labels by name of the series. */
async function exposed(): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-deploy-'));
  const engine = await fakeEngine();
  const lines = { path: join(folder, 'access.jsonl'), maxBytes: 1e6, files: 1 };
  const gateway = await gatewayOver([engine], {
    store: ':memory:',
    access: { ...GATEWAY_DEFAULTS.access, keys: 'required' },
    dataDir: folder,
    accessLog: lines,
    decisionLog: join(folder, 'decisions.jsonl'),
    endpoints: [
      {
        name: 'default',
        policy: DEFAULT_POLICY,
        replicas: [{ id: 'r0', url: engine.url, engine: 'vllm', models: null }],
      },
    ],
  });
  afterwards(async () => rmSync(folder, { recursive: true }));
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${(await newKey(gateway.store!, 'app')).secret}` },
    body: JSON.stringify(question('hello', { max_tokens: 3, stream: true })),
  });
  await response.text();
  expect(response.status).toBe(200);
  gateway.metrics.control = { isLeading: true };
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  // Fails unless every sample has exactly the labels of its family.
  parseExposition(text);
  const families = new Map<string, MetricFamily>(Object.values(FAMILIES).map((family) => [family.name, family]));
  const series = new Map<string, readonly string[]>([['up', []]]);
  for (const [, name] of text.matchAll(/^# TYPE (\S+)/gm)) {
    const { labels, type } = families.get(name!)!;
    if (type !== 'histogram') series.set(name!, labels);
    else {
      for (const suffix of ['_sum', '_count']) series.set(name + suffix, labels);
      series.set(`${name}_bucket`, [...labels, 'le']);
    }
  }
  return series;
}

/** Metrics and labels of an expression that no gateway exposes, and printed labels that its result does not have. */
function unknownIn(expr: string, printed: string, series: ReadonlyMap<string, readonly string[]>): string[] {
  const named = metricsIn(expr);
  const left = groupingOf(expr) ?? [...SCRAPED, ...named.flatMap(({ metric }) => series.get(metric) ?? [])];
  return [
    ...(named.length === 0 ? [`${expr}: no metric`] : []),
    ...named.flatMap(({ labels, metric }) => {
      const known = series.get(metric);
      if (known === undefined) return [`${expr}: metric ${metric}`];
      return labels
        .filter((label) => ![...SCRAPED, ...known].includes(label))
        .map((label) => `${expr}: label ${label} of ${metric}`);
    }),
    ...labelsPrinted(printed)
      .filter((label) => !left.includes(label))
      .map((label) => `${expr}: label ${label} in '${printed}'`),
  ];
}

describe('the board and the alerts', () => {
  test('name metrics and labels that a gateway exposes', async () => {
    const series = await exposed();
    expect(targets.length).toBeGreaterThan(30);
    expect(rules.length).toBeGreaterThan(10);
    expect(targets.flatMap(({ expr, legendFormat }) => unknownIn(expr, legendFormat, series))).toEqual([]);
    expect(
      rules.flatMap(({ annotations, expr }) => unknownIn(expr, annotations.summary + annotations.hint, series)),
    ).toEqual([]);
    for (const { query } of board.templating.list) {
      const [, metric, label] = /^label_values\((\w+), (\w+)\)$/.exec(query) ?? [];
      if (metric !== undefined) expect([...SCRAPED, ...(series.get(metric) ?? [])], query).toContain(label);
    }
  });

  test('unknown metrics and labels are found', () => {
    const series = new Map([['a_bucket', ['endpoint', 'le']]]);
    expect(unknownIn('sum by (endpoint, le) (rate(a_bucket{job="x"}[5m])) > 0.5', '{{endpoint}}', series)).toEqual([]);
    expect(unknownIn('rate(b_total[5m])', '', series)).toEqual(['rate(b_total[5m]): metric b_total']);
    expect(unknownIn('a_bucket{model="m"}', '', series)).toEqual(['a_bucket{model="m"}: label model of a_bucket']);
    expect(unknownIn('sum by (model) (a_bucket)', '', series)).toHaveLength(1);
    expect(unknownIn('sum by (le) (a_bucket)', '{{endpoint}}', series)).toHaveLength(1);
    expect(unknownIn('a_bucket or c', '', series)).toEqual(['a_bucket or c: metric c']);
    expect(unknownIn('1 > 0', '', series)).toHaveLength(1);
  });

  test('panels have ids of their own and do not overlap', () => {
    expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
    const cells = board.panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });

  test('every alert has a name of its own, a severity and a hint', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, annotations, labels } of rules) {
      expect(['page', 'ticket'], alert).toContain(labels.severity);
      expect([annotations.summary, annotations.hint], alert).toEqual([expect.any(String), expect.any(String)]);
    }
  });
});

/** Fails on a flag or value that the command does not accept. */
async function expectAccepted(words: readonly string[]): Promise<void> {
  const [name, ...argv] = words;
  const line = COMMAND_LINES.find((one) => one.name === name);
  expect(line, name).toBeDefined();
  await parseFlags(line!, argv);
}

describe('compose.yaml', () => {
  interface Service {
    readonly image: string;
    readonly command?: readonly string[];
    readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
    readonly healthcheck?: { readonly test: readonly string[] };
    readonly volumes?: readonly string[];
  }
  const { services, volumes } = parse(textOf('compose/compose.yaml'), { merge: true }) as {
    services: Readonly<Record<string, Service>>;
    volumes: object;
  };
  const config = readGatewayConfig(textOf('compose/twinyard.yaml'), '/etc/twinyard/twinyard.yaml', () => {});

  test('runs a gateway, PostgreSQL and two engines, with commands that are accepted', async () => {
    expect(Object.keys(services).sort()).toEqual(['engine-1', 'engine-2', 'gateway', 'postgres']);
    for (const { command } of Object.values(services)) if (command !== undefined) await expectAccepted(command);
  });

  test('the gateway reaches its store and its replicas by the names of their services', () => {
    expect(new URL(config.store!).hostname).toBe('postgres');
    for (const { url } of config.endpoints[0]!.replicas) {
      const { hostname, port } = new URL(url);
      expect(services[hostname]!.command!.slice(-2)).toEqual(['--port', port]);
    }
    expect(config.endpoints[0]!.replicas).toHaveLength(2);
    expect(services.gateway!.command).toContain('/etc/twinyard/twinyard.yaml');
  });

  test.skipIf(POSTGRES_PROGRAMS === null)(
    'its configuration serves from PostgreSQL, with the password beside it',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'twinyard-compose-'));
      const postgres = await startPostgres();
      const engines = [await fakeEngine(), await fakeEngine()];
      const store = new URL(await postgres.freshUrl());
      process.env.PGPASSWORD = store.password;
      store.password = '';
      afterwards(async () => {
        delete process.env.PGPASSWORD;
        await postgres.stop();
        rmSync(folder, { recursive: true });
      });
      const here = textOf('compose/twinyard.yaml')
        .replace(config.store!, store.href)
        .replace('http://engine-1:9000', engines[0]!.url)
        .replace('http://engine-2:9000', engines[1]!.url)
        .replaceAll('/var/lib/twinyard', folder)
        .replaceAll(/port: \d+/g, 'port: 0');
      const gateway = await gatewayOver(
        [],
        readGatewayConfig(here, join(folder, 'twinyard.yaml'), () => {}),
      );
      const ask = (key: string) => fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
      expect((await ask('none')).status).toBe(401);
      expect((await ask((await newKey(gateway.store!, 'first')).secret)).status).toBe(200);
      expect(gateway.replicas().map(({ id, state }) => [id, state])).toEqual([
        ['engine-1', 'ready'],
        ['engine-2', 'ready'],
      ]);
    },
  );

  test('what the gateway depends on exists and has a health check, and volumes are declared', () => {
    for (const name of Object.keys(services.gateway!.depends_on!)) {
      expect(services[name]!.healthcheck, name).toBeDefined();
    }
    const named = Object.values(services).flatMap(({ volumes = [] }) => volumes.map((one) => one.split(':')[0]!));
    expect(named.filter((one) => !one.startsWith('.')).sort()).toEqual(Object.keys(volumes).sort());
  });

  test('files and data are below the folder that the image gives to its user', () => {
    const [, folder] = /^VOLUME (\S+)$/m.exec(textOf('Dockerfile'))!;
    for (const path of [config.dataDir, config.record!.path]) expect(path.startsWith(`${folder}/`)).toBe(true);
    expect(services.gateway!.volumes).toContain(`data:${folder}`);
  });
});

describe('Dockerfile', () => {
  const instructions = textOf('Dockerfile')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, '')
    .split('\n')
    .filter((line) => line !== '');

  test('has known instructions, and does not run as root', () => {
    const known = /^(?:FROM|WORKDIR|COPY|RUN|USER|VOLUME|EXPOSE|STOPSIGNAL|ENTRYPOINT|CMD) /;
    expect(instructions.filter((line) => !known.test(line))).toEqual([]);
    expect(instructions).toContain('USER node');
  });

  test('starts a command that is accepted, on the ports it exposes', async () => {
    const [, command] = /^CMD (.*)$/m.exec(textOf('Dockerfile'))!;
    await expectAccepted(JSON.parse(command!));
    expect(instructions).toContain('EXPOSE 8080 8081');
  });
});

describe('twinyard.service', () => {
  const settings = new Map(
    [...textOf('systemd/twinyard.service').matchAll(/^([A-Z]\w*)=(.*)$/gm)].map(([, key, value]) => [key!, value!]),
  );

  test('starts a command that is accepted', async () => {
    const [program, ...words] = settings.get('ExecStart')!.split(' ');
    expect(program).toBe('/usr/local/bin/twinyard');
    await expectAccepted(words);
  });

  test('waits longer than the drain, allows enough open files, and leaves V8 its compiler', () => {
    const { drainMs, limits } = readGatewayConfig('replicas: [{ url: "http://h:1" }]', 'twinyard.yaml', () => {});
    expect(Number(settings.get('TimeoutStopSec')) * 1000).toBeGreaterThan(drainMs);
    expect(Number(settings.get('LimitNOFILE'))).toBeGreaterThan(2 * limits.connections);
    expect(settings.has('MemoryDenyWriteExecute')).toBe(false);
    expect(settings.get('ProtectSystem')).toBe('strict');
  });
});

test('twinyard.socket listens on the port for clients', () => {
  const { listen } = readGatewayConfig('replicas: [{ url: "http://h:1" }]', 'twinyard.yaml', () => {});
  const streams = [...textOf('systemd/twinyard.socket').matchAll(/^ListenStream=(.*)$/gm)].map(([, value]) => value);
  expect(streams).toEqual([`0.0.0.0:${listen.port}`]);
});
