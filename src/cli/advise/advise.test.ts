import { tmpdir } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeEngine, sendJson, until } from '../../gateway/fake-engine.fixture.js';
import type { Gateway } from '../../gateway/gateway.js';
import { PROFILE } from '../../twin/whatif/recorded-run.fixture.js';
import { recordingGateway } from '../api/recording-gateway.fixture.js';
import { main } from '../program.js';
import { captured, testIo } from '../test-io.fixture.js';
import { readGuard } from './read-guard.js';
import { outcomeText } from './switch-policy.js';

const opened: (() => unknown)[] = [];
let engine: FakeEngine;
let gateway: Gateway;

const started = (names: readonly string[], isRecording = true) =>
  recordingGateway(engine, { names, isRecording }, (close) => opened.push(close));

beforeAll(async () => {
  engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  gateway = await started(['default']);
  gateway.endpoints.get('default')!.profiles.set('default-0', PROFILE);
});
beforeEach(() => {
  engine.answer = ({ response }) => sendJson(response, 200, { choices: [] });
});
afterAll(async () => {
  for (const close of opened.reverse()) await close();
});

const at = (line: string, of = gateway) => `advise --gateway ${of.adminUrl} --token ${of.adminToken} ${line}`.trimEnd();
const QUICK = '--policies lmetric --metric ttft-mean --runs 5';

async function send(requests: number): Promise<void> {
  const before = gateway.traffic.requests.size;
  const body = '{"model":"m","messages":[{"role":"user","content":"hello"}]}';
  for (let i = 0; i < requests; i++) {
    await (await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', body })).text();
  }
  await until(() => gateway.traffic.requests.size >= before + requests);
}

describe('advise', () => {
  it('prints what to do first, then the policies, the cost of the switch, and the command that switches', async () => {
    const { code, stderr, stdout } = await captured(at(QUICK.replace('lmetric', 'lmetric,random')));
    expect([code, stderr]).toEqual([0, '']);
    const [verdict, policies, cost, sure, apply] = stdout.split('\n\n');
    expect(verdict).toMatch(/^Switch from round-robin to lmetric: TTFT mean/);
    expect(policies!.split('\n').map((line) => line.split(/\s/)[0])).toEqual([
      ...['Policy', 'round-robin', 'lmetric', 'random'],
    ]);
    expect(policies).toMatch(/^round-robin .* in force$/m);
    expect(policies).toMatch(/^lmetric +[\d.]+ +-[\d.]+ % +-[\d.]+ % +-[\d.]+ % +better$/m);
    expect(cost).toMatch(/^TTFT in ms after the switch +not switched +switched +with warm caches\nfrom 0\.0 s /);
    expect(sure).toMatch(/^240 requests over/);
    expect(apply).toBe(
      `To switch, watch for 10m, and go back if ttft-p90 is more than 10 % worse:\n  twinyard advise --gateway ${gateway.adminUrl} --endpoint default/default --policies lmetric --apply --guard ttft-p90:+10% --watch 10m\n`,
    );
  });

  it('is in the status of the endpoint from then on', async () => {
    const access = `--server ${gateway.adminUrl} --token ${gateway.adminToken}`;
    const stdoutOf = async (line: string) => (await captured(`${line} ${access}`)).stdout;
    const page = await stdoutOf('describe endpoint default');
    expect(page).toMatch(/\nAdvice:\n {2}Switch from round-robin to lmetric: /);
    expect(page).toMatch(/\n {2}Found \d+s ago, while round-robin was in force\.\n/);
    const { status } = JSON.parse(await stdoutOf('get endpoint default -o json'));
    expect(status.advice).toMatchObject({ policy: 'lmetric', present: 'round-robin', metric: 'ttft_mean_ms' });
    expect(status.advice.change_low).toBeLessThan(status.advice.change);
    expect(await stdoutOf('get endpoints -o yaml')).toMatch(/ advice:\n +job: .*\n/);
    expect(await stdoutOf('get endpoints -o wide')).toMatch(/ ADVICE .*\ndefault .* lmetric /);
    expect(await stdoutOf('top --once')).toContain(
      'advice for default: lmetric instead of round-robin, ttft_mean_ms -',
    );
  });

  it('keeps the policy where no other is better for certain, with --apply too', async () => {
    const { code, stdout } = await captured(at('--policies random --metric ttft-mean --runs 5 --apply'));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Keep round-robin: no other policy gives a better TTFT mean for certain\./);
    expect(stdout).not.toContain('To switch');
    expect(gateway.endpoints.get('default')!.policy.name).toBe('round-robin');
  });
});

describe('advise --apply', () => {
  it('goes back when the guard is broken, prints all as JSON, and exits with 1', async () => {
    await send(60);
    const ended = captured(at(`${QUICK} --apply --guard errors:+5% --watch 1h -o json`));
    await until(() => gateway.endpoints.get('default')!.policy.name === 'lmetric');
    engine.answer = ({ response }) => sendJson(response, 500, { error: { message: 'broken' } });
    await send(60);
    const { code, stderr, stdout } = await ended;
    expect(code).toBe(1);
    expect(stderr).toContain(
      'twinyard: switching default/default from round-robin to lmetric; errors is watched for 60m; Ctrl-C goes back to round-robin\n',
    );
    const { best, cost, present, switch: result } = JSON.parse(stdout);
    expect([best.policy, present.policy, cost.windows.length > 0]).toEqual(['lmetric', 'round-robin', true]);
    expect(best.changeLow).toBeLessThan(best.changeHigh);
    expect(result).toMatchObject({
      outcome: 'returned',
      reason: expect.stringMatching(/^errors became .*, above 5\.0 %$/),
    });
    const page = await captured(`describe endpoint default --server ${gateway.adminUrl} --token ${gateway.adminToken}`);
    expect(page.stdout.replace(/\s+/g, ' ')).toContain(
      `Switch: From round-robin to lmetric, errors at most 5 points more: returned, ${result.reason}, `,
    );
    expect(gateway.endpoints.get('default')!.policy.name).toBe('round-robin');
  });

  it('goes back on Ctrl-C and says so', async () => {
    await send(60);
    let stop = async () => {};
    const io = {
      ...testIo(),
      beforeSignal: (cleanUp: () => void | Promise<void>) => {
        stop = async () => cleanUp();
      },
    };
    const ended = main(at(`${QUICK} --apply --guard e2e-p90:+900% --watch 1h`).split(' '), io);
    await until(() => gateway.endpoints.get('default')!.policy.name === 'lmetric');
    await stop();
    expect(gateway.endpoints.get('default')!.policy.name).toBe('round-robin');
    expect(io.stderrText()).toMatch(/\ntwinyard: cancelled: default\/default has the policy round-robin again\n$/);
    expect(await ended).toBe(130);
  });
});

describe('advise refuses in one line', () => {
  let several: Gateway;
  beforeAll(async () => {
    several = await started(['chat', 'code'], false);
  });

  it.each([
    ['--gateway nowhere', "--gateway: 'nowhere' is not a URL; give one such as http://127.0.0.1:8081"],
    ['--policies lmetrik', "did you mean 'lmetric'?"],
    ['--guard ttft-p90:+10%', '--guard: is given without --apply; add --apply to switch, or leave it out'],
    ['--apply --guard ttft-p90', "--guard: 'ttft-p90' is not of the form metric:bound; give a metric and how much"],
    ['--apply --guard cost:+1%', "--guard: 'cost' is not known"],
    ['--apply --guard ttft-p90:fast', "--guard: 'ttft-p90:fast' has no bound in percent"],
    ['--last 10', "--last: '10' has no unit"],
    ['--metric ttft', "--metric: 'ttft' is not known"],
  ])('%s', async (line, problem) => {
    const { code, stderr, stdout } = await captured(`advise --token t ${line}`);
    expect([code, stdout, stderr.split('\n').length, stderr.includes(problem) ? '' : stderr]).toEqual([2, '', 2, '']);
  });

  it.each([
    ['an endpoint that is not served', '--endpoint none', /^twinyard: --endpoint: default\/none is not served by http/],
    [
      'a recording without requests in this time',
      '--to 2001-02-03T04:05:06Z',
      /^twinyard: recording of endpoint default: has no requests; send requests to the gateway, or choose a longer time\n$/,
    ],
    ['a time that is none', '--to yesterday', /^twinyard: --to: 'yesterday' is not a time; give a time with its zone/],
    [
      'an engine that is not known',
      '--model no/such',
      /; name a model and a GPU of the catalogue with --model, --hardware/,
    ],
  ])('%s', async (_, line, problem) => {
    const { code, stderr, stdout } = await captured(at(line));
    expect([code, stdout, stderr.split('\n').length]).toEqual([2, '', 2]);
    expect(stderr).toMatch(problem);
    expect(stderr).not.toContain(tmpdir());
  });

  it('a gateway that serves several endpoints, that does not record, or that is away', async () => {
    expect((await captured(at('', several))).stderr).toMatch(
      /--endpoint: is required: .* 2 endpoints; one of chat, code/,
    );
    expect((await captured(at('--endpoint chat', several))).stderr).toContain(
      "does not record its traffic; set 'record' in its configuration and restart it",
    );
    const away = await captured('advise --gateway http://127.0.0.1:1 --token t');
    expect([away.code, away.stderr]).toEqual([1, expect.stringMatching(/; is 'twinyard serve' running there/)]);
  });
});

describe('the end of a watch', () => {
  const result = { metric: 'errors', before: 0, after: 0, bound: 0.1, requests: 70 } as const;

  it.each([
    ['kept', 'Kept new: it is fine, over 70 requests.'],
    ['returned', 'Went back to old: it is fine.'],
    ['superseded', 'Left alone: it is fine; the policy is other.'],
  ] as const)('%s', (outcome, text) => {
    expect(outcomeText({ ...result, outcome, reason: 'it is fine' }, 'new', 'old', 'other')).toBe(text);
  });
});

describe('a guard', () => {
  it.each([
    ['ttft-p90:+10%', { metric: 'ttft_p90', most: 0.1 }],
    ['e2e_mean:2.5%', { metric: 'e2e_mean', most: 0.025 }],
    [' errors:+0% ', { metric: 'errors', most: 0 }],
  ])('%s', (text, guard) => {
    expect(readGuard(text, '--guard')).toEqual(guard);
  });

  it('has a bound', () => {
    expect(() => readGuard('errors:+99999%', '--guard')).toThrow('allows more than 10000%');
  });
});
