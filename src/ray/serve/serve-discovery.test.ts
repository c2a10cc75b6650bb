import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RayAccess, RayRequest, RayTransport } from '../ray-transport.js';
import type { ServeDetails } from './found-replicas.js';
import { ServeDiscovery } from './serve-discovery.js';
import { readServeTarget } from './serve-target.js';

interface Reported {
  readonly ids: string;
  readonly problem: string | null;
}

const details = (...ids: string[]) => ({
  controller_info: { actor_name: 'c' },
  applications: { chat: { route_prefix: '/' } },
  target_groups: [
    {
      ...{ app_name: 'chat', protocol: 'HTTP', route_prefix: '/' },
      targets: ids.map((id, i) => ({ ip: '10.0.0.1', port: 30_000 + i, name: `SERVE_REPLICA::chat#M#${id}` })),
    },
  ],
});

/** @param respond status and body of each request; throwing: the dashboard cannot be reached */
function follow(respond: (request: RayRequest, access: RayAccess) => [number, unknown], text = 'http://head:8265') {
  const requests: string[] = [];
  const reports: Reported[] = [];
  let wake = () => {};
  const transport = (access: RayAccess): RayTransport => ({
    async send(request) {
      requests.push(`${request.method} ${request.path}`);
      const [status, body] = respond(request, access);
      return { status, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), isCut: false };
    },
    async close() {},
  });
  const discovery = new ServeDiscovery({
    ...{ target: readServeTarget(text), transport, timing: { everyMs: 1, awayMs: 2 } },
    found(replicas, problem) {
      reports.push({ ids: replicas.map(({ id }) => id).join(), problem });
      wake();
    },
  });
  onTestFinished(() => discovery.close());
  const reported = async (count: number) => {
    while (reports.length < count) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return reports;
  };
  return { discovery, reported, reports, requests };
}

describe('discovery of Ray Serve', () => {
  it('reports replicas as they come and go, once per change, and reads one path only', async () => {
    let now = details('a');
    const { discovery, reported, reports, requests } = follow(() => [200, now]);
    await discovery.synced;
    now = details('a', 'b');
    await reported(2);
    now = details('b');
    await reported(3);
    const count = requests.length;
    while (requests.length < count + 3) await new Promise((resolve) => setImmediate(resolve));
    expect(reports).toEqual([
      { ids: 'chat.M.a', problem: null },
      { ids: 'chat.M.a,chat.M.b', problem: null },
      { ids: 'chat.M.b', problem: null },
    ]);
    expect(new Set(requests)).toEqual(new Set(['GET /api/serve/applications/']));
  });

  it('keeps what it saw last while Serve cannot be seen, with the reason', async () => {
    let respond = (): [number, unknown] => [200, details('a')];
    const { reported } = follow(() => respond());
    const fails: [expected: string, () => [number, unknown]][] = [
      [
        'http://head:8265: the Ray dashboard cannot be reached (ECONNREFUSED)',
        () => {
          throw new Error('ECONNREFUSED');
        },
      ],
      ['Ray Serve does not run there', () => [200, { controller_info: {}, applications: {} }]],
      [
        '/api/serve/applications/: Serve dependencies are not installed. Please run `pip install "ray[serve]"`.',
        () => [501, 'Serve dependencies are not installed. Please run `pip install "ray[serve]"`.'],
      ],
      ['the Ray dashboard refuses the token; check token_file', () => [401, 'Unauthorized']],
      ['is not that of a Ray dashboard (/api/serve/applications/: no applications)', () => [200, 'null']],
    ];
    for (const [i, [problem, fail]] of fails.entries()) {
      respond = fail;
      const last = (await reported(i + 2)).at(-1);
      expect(last).toEqual({ ids: 'chat.M.a', problem: expect.stringContaining(problem) as string });
    }
    respond = () => [200, details('b')];
    expect((await reported(fails.length + 2)).at(-1)).toEqual({ ids: 'chat.M.b', problem: null });
  });

  it('follows what a real Ray Serve published while it scaled, updated, lost a replica and deleted the application', async () => {
    const recorded = JSON.parse(readFileSync(new URL('recorded-details.json', import.meta.url), 'utf8')) as {
      status: number;
      body: ServeDetails;
    }[];
    let next = 0;
    const { reports, requests } = follow(() => {
      const { body, status } = recorded[Math.min(next++, recorded.length - 1)]!;
      return [status, body];
    }, 'http://head:8265,app=chat');
    while (requests.length <= recorded.length) await new Promise((resolve) => setImmediate(resolve));
    const sizes = reports.map(({ ids }) => (ids === '' ? 0 : ids.split(',').length));
    const last = reports.at(-1)!;
    expect(last).toEqual({ ids: '', problem: "application 'chat' is not deployed" });
    expect(Math.max(...sizes)).toBe(4);
    // Serve publishes proxies while it builds new code: what was found stays.
    const building = recorded.filter(({ body }) => body.target_groups?.[0]?.ingress_deployment_name === '');
    const found = sizes.slice(
      sizes.findIndex((size) => size > 0),
      -1,
    );
    expect([building.length > 0, Math.min(...found) > 0]).toEqual([true, true]);
    const ids = reports.flatMap(({ ids }) => (ids === '' ? [] : ids.split(',')));
    expect(ids.filter((id) => !/^chat\.Model\.[a-z0-9]{8}$/.test(id))).toEqual([]);
  });

  it('takes a token that was replaced in its file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'twinyard-serve-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'token');
    writeFileSync(file, 'first\n');
    let accepted = 'first';
    const text = `http://head:8265,token_file=${file}`;
    const { reported } = follow((_, { token }) => (token === accepted ? [200, details('a')] : [401, '']), text);
    await reported(1);
    accepted = 'second';
    expect((await reported(2)).at(-1)!.problem).toContain('refuses the token');
    writeFileSync(file, 'second\n');
    expect((await reported(3)).at(-1)).toEqual({ ids: 'chat.M.a', problem: null });
    expect(() => follow(() => [200, {}], `http://head:8265,token_file=${join(folder, 'none')}`)).toThrow(
      'check token_file',
    );
  });
});
