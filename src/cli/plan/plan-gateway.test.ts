import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeEngine } from '../../gateway/fake-engine.fixture.js';
import type { Gateway } from '../../gateway/gateway.js';
import { documentJson } from '../../report/text/document-json.js';
import { PROFILE } from '../../twin/whatif/recorded-run.fixture.js';
import { recordingGateway } from '../api/recording-gateway.fixture.js';
import { captured } from '../test-io.fixture.js';

const opened: (() => unknown)[] = [];
let gateway: Gateway;

beforeAll(async () => {
  const engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  gateway = await recordingGateway(engine, { names: ['default'] }, (close) => opened.push(close));
  gateway.endpoints.get('default')!.profiles.set('default-0', PROFILE);
});
afterAll(async () => {
  for (const close of opened.reverse()) await close();
});

const at = (line: string) => `plan --gateway ${gateway.adminUrl} --token ${gateway.adminToken} ${line}`.trimEnd();

// biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
async function call(method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(`${gateway.adminUrl}/api/v1/${path}`, {
    ...{ method, headers: { authorization: `Bearer ${gateway.adminToken}` } },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.json();
}

describe('plan --gateway', () => {
  it('prints the bytes of a plan of the API when it is run as that plan says', async () => {
    const slos = [
      { metric: 'ttft', statistic: 'p90', limit_ms: 40 },
      { metric: 'e2e', statistic: 'mean', limit_ms: 20_000 },
    ];
    const asked = { slos, last: '1h', times: 2, max_replicas: 1, requests: 100, policy: 'round-robin' };
    const { id } = await call('POST', 'workspaces/default/endpoints/default/plan', asked);
    await (
      await fetch(`${gateway.adminUrl}/api/v1/jobs/${id}/events`, {
        headers: { authorization: `Bearer ${gateway.adminToken}` },
      })
    ).text();
    const { commands, result } = await call('GET', `jobs/${id}`);
    expect(commands).toEqual([
      expect.stringMatching(
        /^twinyard plan --gateway \S+ --endpoint default\/default --last 1h --to \S+ --rate 2x --slo-ttft p90=40ms --slo-e2e mean=20000ms --routing-policy round-robin --max-instances 1 --num-requests 100$/,
      ),
    ]);
    const line = `${commands[0].slice('twinyard '.length)} --token ${gateway.adminToken}`;
    expect(await captured(line)).toEqual({ code: 0, stderr: '', stdout: documentJson(result) });
    const { code, stdout } = await captured(`${line} --format table`);
    const text = stdout.replace(/\s+/g, ' ');
    expect([code, text]).toEqual([0, expect.stringContaining(result.verdict)]);
    expect(text).toMatch(/Recorded: 240 requests over [\d.]+ s on 4 replicas\./);
    expect(text).toMatch(/as simulated against what was measured: TTFT mean -?[\d.]+ %, E2E mean -?[\d.]+ %\./);
  });

  it.each([
    ['--slo-ttft 1s --num-instances 4', '--num-instances: given together with --gateway; leave it out'],
    ['--slo-ttft 1s --rate 20', "--rate: is not times the recorded rate; give it as in '2x'"],
    ['--slo-ttft 1s --workload rag --rate 2x', '--rate: is times a recorded rate, and a preset has none'],
    ['--slo-ttft 1s --tp 1,2', '--tp: has 2 values with --gateway; give one'],
    ['--slo-ttft 1s --report plan.html', '--report: given together with --gateway'],
    ['', '--slo-ttft: or another SLO is required'],
    ['--slo-ttft 1s --endpoint none', '--endpoint: default/none is not served by'],
    ['--slo-ttft 1s --to 2001-02-03T04:05:06Z', 'recording of endpoint default: has no requests; send requests'],
  ])('refuses %s in one line', async (line, problem) => {
    const { code, stderr, stdout } = await captured(at(line));
    expect([code, stdout, stderr.split('\n').length, stderr.includes(problem) ? '' : stderr]).toEqual([2, '', 2, '']);
  });

  it('refuses flags of a gateway without one', async () => {
    const { code, stderr } = await captured('plan --model qwen/qwen3-14b --rate 1 --slo-ttft 1s --last 1h');
    expect([code, stderr]).toEqual([
      ...[2, 'twinyard: --last: is given without --gateway; add --gateway, or leave it out\n'],
    ]);
  });
});
