import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SampledRequest } from '../../gateway/prediction/request-samples.js';
import { fakeProfile } from '../../replica/latency/fake-profile.fixture.js';
import { FakeFleet, fitRun, MINUTE } from './fake-fleet.fixture.js';
import { ProfileFolder } from './kept-profiles.js';

let fleet: FakeFleet;
beforeEach(() => {
  fleet = new FakeFleet();
});

describe('a new endpoint', () => {
  it('predicts nothing until enough requests are collected, and says so', async () => {
    const profiles = fleet.profiles();
    expect(profiles.states()).toMatchObject([{ endpoint: 'chat', engine: 'vllm', profile: null, isUsed: false }]);
    await fleet.run(profiles, 2);
    const [state] = profiles.states('chat');
    expect(state).toMatchObject({ profile: null, ageS: null, score: null });
    expect(state!.problem).toBe('60 of 120 requests collected: nothing is predicted yet');
    expect(fleet.jobs).toEqual([]);
    expect(fleet.applied.get('r0')).toBeNull();
  });

  it('gets the fitted profile on its replicas, with score, age and assumptions', async () => {
    const profiles = fleet.profiles();
    await fleet.run(profiles, 6);
    const [state] = profiles.states();
    expect(state).toMatchObject({ source: 'fitted', isUsed: true, isPinned: false, problem: '' });
    expect(state!.score).toEqual({ ttft: 0.1, itl: 0.1, e2e: 0.1, requests: 50 });
    expect(state!.ageS).toBeGreaterThanOrEqual(0);
    expect(state!.ageS).toBeLessThan(180);
    expect(fleet.applied.get('r0')!.name).toBe('first');
    expect(state!.assumes).toEqual([
      'batches have at most 256 requests and 2048 tokens',
      "model 'm' is not in the catalogue: the profile comes from requests alone",
    ]);
    expect(fleet.jobs[0]!.engine).toMatchObject({ totalKvBlocks: 1000, maxModelLen: 4096, blockSize: 16 });
    expect(fleet.events[0]).toBe(
      'chat normal ProfileFitted: engine vllm: TTFT 10 %, ITL 10 %, E2E 10 % off on 50 newer requests',
    );
  });

  it('predicts nothing rather than something wrong', async () => {
    fleet.fit = () => fitRun('bad', 0.6, null);
    const profiles = fleet.profiles();
    await fleet.run(profiles, 6);
    expect(profiles.states()[0]).toMatchObject({ isUsed: false });
    expect(profiles.states()[0]!.problem).toMatch(
      /^nothing is predicted: the best profile is ITL 60 % and E2E 60 % off/,
    );
    expect(fleet.applied.get('r0')).toBeNull();
  });

  it('starts from the catalogue where model and GPU are known', async () => {
    const replica = { ...fleet.replica('r0', 'H100'), models: new Set(['qwen/qwen3-14b']), cards: new Map() };
    fleet.endpoints.get('chat')!.replicas = [replica];
    const profiles = fleet.profiles();
    await fleet.run(profiles, 6, 'vllm@H100');
    expect(fleet.jobs[0]!.start).toEqual({ kind: 'catalogue', model: 'qwen/qwen3-14b', hardware: 'H100', tp: 1 });
    expect(profiles.states()[0]!.assumes).toEqual(['batches have at most 256 requests and 2048 tokens']);
    expect(profiles.states()[0]!.engine).toBe('vllm@H100');
  });
});

describe('a further fit', () => {
  it('is kept only if it is better on newer requests', async () => {
    const profiles = fleet.profiles();
    await fleet.run(profiles, 6);
    fleet.fit = () => fitRun('worse', 0.2, 0.15);
    await fleet.run(profiles, 16);
    expect(fleet.jobs).toHaveLength(2);
    expect(profiles.states()[0]).toMatchObject({ profile: { name: 'first' }, score: { itl: 0.15 } });
    fleet.fit = () => fitRun('better', 0.05, 0.15);
    await fleet.run(profiles, 16);
    expect(profiles.states()[0]).toMatchObject({ profile: { name: 'better' }, score: { itl: 0.05 } });
    expect(fleet.applied.get('r0')!.name).toBe('better');
    expect(profiles.counts()[0]!.fits).toEqual({ kept: 2, discarded: 1, failed: 0 });
  });

  it('waits for the budget of the fits before it', async () => {
    let others = 0;
    fleet.endpoints.set('code', { ...fleet.endpoints.get('chat')!, name: 'code', replicas: [fleet.replica('r1')] });
    fleet.fit = (job) => {
      if (job.names.name.startsWith('code')) others++;
      return { ...fitRun('slow', 0.1, null), busyMs: 60_000, restMs: 1_140_000 };
    };
    const profiles = fleet.profiles();
    await fleet.run(profiles, 6);
    const ofCode = fleet.observed.of('code', 'vllm')!;
    for (let i = 0; i < 200; i++) ofCode.samples.add({ ...REQUEST, dispatchedUs: fleet.nowUs + i }, 0);
    await fleet.run(profiles, 10);
    expect(others).toBe(0);
    expect(profiles.states('code')[0]!.problem).toBe(
      'enough requests are collected, and the first fit waits for its turn: nothing is predicted yet',
    );
    await fleet.run(profiles, 10);
    expect(others).toBe(1);
    expect(profiles.fitSeconds).toBe(120);
  });

  it('fails without harm', async () => {
    fleet.fit = () => Promise.reject(new Error('out of memory'));
    const profiles = fleet.profiles();
    await fleet.run(profiles, 6);
    expect(fleet.warnings[0]).toBe('endpoint chat, engine vllm: no profile was fitted: out of memory');
    expect(profiles.counts()[0]!.fits.failed).toBeGreaterThan(0);
    expect(profiles.states()[0]!.problem).toBe('no profile was fitted: out of memory');
    await profiles.close();
  });

  it('says which responses are missing: only streamed ones that the engine counts are fitted', async () => {
    fleet.fit = () => ({ outcome: null, busyMs: 1, restMs: 1 });
    const profiles = fleet.profiles();
    const { samples } = fleet.observed.of('chat', 'vllm')!;
    const add = (isStreamed: boolean) => {
      for (let i = 0; i < 200; i++)
        samples.add({ ...REQUEST, isStreamed, outputTokens: 1, dispatchedUs: fleet.nowUs - 1e6 + i }, 0);
    };
    add(false);
    await profiles.tick();
    await profiles.settled();
    expect(profiles.states()[0]!.problem).toBe(
      'only 0 of 200 requests were streamed, complete and had their tokens counted by the engine: nothing is predicted',
    );
    add(true);
    fleet.nowUs += 3 * MINUTE;
    await profiles.tick();
    await profiles.settled();
    expect(profiles.states()[0]!.problem).toBe(
      'too few requests of one replica: nothing is predicted until there are more',
    );
  });

  it('says that responses of one token show no time between tokens', async () => {
    const profiles = fleet.profiles();
    const { samples } = fleet.observed.of('chat', 'vllm')!;
    for (let i = 0; i < 200; i++) samples.add({ ...REQUEST, outputTokens: 1, dispatchedUs: fleet.nowUs - 1e6 + i }, 0);
    await profiles.tick();
    await profiles.settled();
    expect(profiles.states()[0]!.assumes).toContain(
      'the time between tokens is not measured: no response has more than one',
    );
  });
});

const REQUEST: SampledRequest = {
  ...{ replicaId: 'r1', outcome: 'ok', isStreamed: true, dispatchedUs: 0, isMetered: true, cachedTokens: 0 },
  ...{ inputTokens: 10, outputTokens: 10, firstTokenUs: 1e12, endedUs: 1e12 },
};

describe('a drift', () => {
  const drifted = async (change: () => void) => {
    const profiles = fleet.profiles();
    await fleet.run(profiles, 8);
    change();
    fleet.slower = 1.6;
    await fleet.run(profiles, 9);
    expect(fleet.warnings).toEqual([]);
    fleet.fit = (job) => fitRun(job.current === null ? 'first' : 'second', 0.1, 0.6);
    await fleet.run(profiles, 3);
    return profiles;
  };

  it.each([
    ['engine-version', 'a new engine version', { version: '0.11.0' }, 'the engine version changed: 0.10.0 to 0.11.0'],
    ['gpu', 'another GPU', { kvBlocks: 500 }, 'the number of KV blocks changed, as with another GPU: 1000 to 500'],
    ['host', 'a host that is slower everywhere', {}, 'everything is slower (TTFT 1.6 times the predicted one, ITL 1.6'],
  ] as const)('is an event, a log line and a count with its reason %s: %s', async (reason, _, change, why) => {
    const profiles = await drifted(() => void Object.assign(fleet, change));
    const message = fleet.events.find((line) => line.includes('ProfileDrift'))!;
    expect(message).toContain('chat warning ProfileDrift: the ');
    expect(message).toContain(' for ten minutes: ');
    expect(message).toContain(why);
    expect(fleet.warnings[0]).toContain(why);
    expect(profiles.counts()[0]!.drifts[reason]).toBe(1);
  });

  it('is reported at once where replicas run on another GPU, whose profile is not known', async () => {
    const profiles = fleet.profiles();
    const on = (...hardware: string[]) => {
      fleet.endpoints.get('chat')!.replicas = hardware.map((gpu, i) => fleet.replica(`r${i}`, gpu));
    };
    on('H100');
    await fleet.run(profiles, 8, 'vllm@H100');
    // A rolling update: both, then the new one alone.
    on('H100', 'H200');
    await fleet.run(profiles, 2, 'vllm@H100');
    on('H200');
    await fleet.run(profiles, 2, 'vllm@H200');
    const drifts = () => fleet.events.filter((line) => line.includes('ProfileDrift'));
    expect(drifts()).toEqual([
      'chat warning ProfileDrift: the GPU changed: H100 to H200: nothing is predicted until a profile is fitted',
    ]);
    expect(profiles.counts().find(({ engine }) => engine === 'vllm@H200')!.drifts.gpu).toBe(1);
    // Back again: its profile is still known.
    on('H100');
    await fleet.run(profiles, 2, 'vllm@H100');
    expect(drifts()).toHaveLength(1);
    expect(fleet.applied.get('r0')).not.toBeNull();
  });

  it('names an engine that is quicker everywhere', async () => {
    const profiles = fleet.profiles();
    await fleet.run(profiles, 8);
    fleet.slower = 1 / 3;
    await fleet.run(profiles, 12);
    expect(fleet.events.find((line) => line.includes('ProfileDrift'))).toContain(
      'everything is quicker (TTFT 0.4 times the predicted one, ITL 0.4 times the predicted one)',
    );
  });

  it('names another model length', async () => {
    const profiles = await drifted(() => {
      fleet.maxModelLen = 8192;
      fleet.endpoints.get('chat')!.replicas = [{ ...fleet.replica('r0'), readySinceMs: 2 }];
    });
    expect(profiles.counts()[0]!.drifts['model-length']).toBe(1);
  });

  it('is an event also when a regular fit replaces the profile before ten minutes are over', async () => {
    const profiles = fleet.profiles();
    await fleet.run(profiles, 6);
    fleet.fit = (job) => fitRun(job.current === null ? 'first' : 'second', 0.1, 0.6);
    await fleet.run(profiles, 8);
    fleet.version = '0.11.0';
    fleet.slower = 1.6;
    await fleet.run(profiles, 6);
    expect(profiles.states()[0]).toMatchObject({ profile: { name: 'second' }, drift: null });
    const drifts = fleet.events.filter((line) => line.includes('ProfileDrift'));
    expect(drifts).toHaveLength(1);
    expect(drifts[0]).toMatch(
      /^chat warning ProfileDrift: the .* error of predictions is \d+ % instead of 5.0 % for \d minutes, until a new fit: the engine version changed: 0.10.0 to 0.11.0$/,
    );
    expect(profiles.counts()[0]!.drifts['engine-version']).toBe(1);
    fleet.slower = 1;
    await fleet.run(profiles, 12);
    expect(fleet.events.filter((line) => line.includes('ProfileDrift'))).toHaveLength(1);
  });

  it('is none where a better fit replaces a profile that was not off', async () => {
    const profiles = fleet.profiles();
    await fleet.run(profiles, 6);
    fleet.fit = () => fitRun('second', 0.1, 0.6);
    await fleet.run(profiles, 20);
    expect(profiles.states()[0]).toMatchObject({ profile: { name: 'second' } });
    expect(fleet.events.filter((line) => line.includes('ProfileDrift'))).toEqual([]);
  });

  it('is followed by a fit of the requests since it began, which ends it', async () => {
    const profiles = await drifted(() => {});
    const since = fleet.nowUs;
    await fleet.run(profiles, 4);
    expect(profiles.states()[0]).toMatchObject({ profile: { name: 'second' }, drift: null });
    expect(fleet.jobs.at(-1)!.columns.arrivalUs[0]).toBeGreaterThan(since - 14 * MINUTE);
  });

  it('is shown while it lasts, also of a pinned profile, which is not fitted again', async () => {
    const profiles = fleet.profiles();
    await fleet.run(profiles, 8);
    profiles.pin('chat', 'vllm', { isPinned: true });
    const fits = fleet.jobs.length;
    fleet.slower = 1.6;
    await fleet.run(profiles, 40);
    expect(fleet.jobs).toHaveLength(fits);
    expect(profiles.states()[0]!.drift).toMatchObject({ reason: 'host' });
    fleet.slower = 1;
    await fleet.run(profiles, 3);
    expect(profiles.states()[0]!.drift).toBeNull();
  });
});

describe('a pin', () => {
  it('is refused where there is nothing to pin, or no such engine', () => {
    const profiles = fleet.profiles();
    expect(() => profiles.pin('chat', 'vllm', { isPinned: true })).toThrow('has no profile yet');
    expect(() => profiles.pin('chat', 'sglang', { isPinned: true })).toThrow("has no engine 'sglang'");
    expect(() => profiles.pin('none', 'vllm', { isPinned: true })).toThrow("has no engine 'vllm'");
  });

  it('uses a given profile at once, and unpinned it may be replaced by a better one', async () => {
    const profiles = fleet.profiles();
    const given = { ...fakeProfile(), name: 'given' };
    expect(profiles.pin('chat', 'vllm', { isPinned: true, profile: given })).toMatchObject({
      ...{ source: 'given', isUsed: true, isPinned: true, ageS: 0 },
    });
    expect(fleet.applied.get('r0')).toBe(given);
    await fleet.run(profiles, 10);
    expect(fleet.jobs).toEqual([]);
    profiles.pin('chat', 'vllm', { isPinned: false });
    fleet.fit = () => fitRun('better', 0.05, 0.3);
    await fleet.run(profiles, 16);
    expect(profiles.states()[0]).toMatchObject({ profile: { name: 'better' }, source: 'fitted' });
  });

  it('is used however far it is off, and says so', async () => {
    const profiles = fleet.profiles();
    profiles.pin('chat', 'vllm', { isPinned: true, profile: { ...fakeProfile(), name: 'given' } });
    await fleet.run(profiles, 3);
    expect(profiles.states()[0]).toMatchObject({ isUsed: true, problem: '' });
    fleet.slower = 3;
    await fleet.run(profiles, 6);
    expect(profiles.states()[0]).toMatchObject({
      isUsed: true,
      problem:
        'the profile is ITL 67 % and E2E 67 % off on the median of the latest requests: pin one that fits, or unpin it',
    });
  });

  it('uses a fitted profile that was too far off, and no more when it is taken back', async () => {
    fleet.fit = () => fitRun('bad', 0.6, null);
    const profiles = fleet.profiles();
    await fleet.run(profiles, 6);
    expect(profiles.pin('chat', 'vllm', { isPinned: true })).toMatchObject({ isUsed: true, problem: '' });
    const { isUsed, problem } = profiles.pin('chat', 'vllm', { isPinned: false });
    expect(isUsed).toBe(false);
    expect(problem).toMatch(/^nothing is predicted: the best profile is ITL 60 %/);
  });

  it('outranks a fit that is under way', async () => {
    const profiles = fleet.profiles();
    fleet.fit = () => {
      profiles.pin('chat', 'vllm', { isPinned: true, profile: { ...fakeProfile(), name: 'given' } });
      return fitRun('late', 0.01, null);
    };
    await fleet.run(profiles, 6);
    expect(profiles.states()[0]!.profile!.name).toBe('given');
  });
});

describe('a restart', () => {
  let path: string;
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'twinyard-profiles-'));
  });
  afterEach(() => rmSync(path, { recursive: true }));

  it('keeps profile, score, pin and age', async () => {
    const profiles = fleet.profiles({ folder: new ProfileFolder(join(path, 'profiles')) });
    await fleet.run(profiles, 10);
    profiles.pin('chat', 'vllm', { isPinned: true });
    const [before] = profiles.states();
    const again = new FakeFleet();
    again.nowUs = fleet.nowUs;
    const [after] = again.profiles({ folder: new ProfileFolder(join(path, 'profiles')) }).states();
    expect(after).toEqual(before);
    expect(readdirSync(join(path, 'profiles'))).toEqual(['chat@vllm.json']);
  });

  it('begins without the profile of an endpoint that is gone, under the same name too', async () => {
    const folder = join(path, 'profiles');
    const of = (uid: string) => {
      fleet.endpoints.set('chat', { ...fleet.endpoints.get('chat')!, managed: { uid } });
      return fleet.profiles({ folder: new ProfileFolder(folder) });
    };
    const first = of('one');
    await fleet.run(first, 10);
    first.pin('chat', 'vllm', { isPinned: true });
    expect(of('one').states()[0]).toMatchObject({ isPinned: true, profile: { name: 'first' } });
    expect(of('two').states()[0]).toMatchObject({ isPinned: false, profile: null });
    expect(readdirSync(folder)).toEqual([]);
    const again = of('two');
    again.pin('chat', 'vllm', { isPinned: true, profile: fakeProfile() });
    expect(readdirSync(folder)).toHaveLength(1);
    again.forget('chat');
    expect([readdirSync(folder), again.states()[0]!.profile]).toEqual([[], null]);
  });

  it('leaves a damaged file alone and says so', () => {
    const folder = join(path, 'profiles');
    new ProfileFolder(folder).write({
      ...{
        endpoint: 'chat',
        engine: 'vllm',
        uid: null,
        profile: fakeProfile(),
        source: 'given',
        isPinned: false,
        madeMs: 1,
      },
      ...{ score: null, usual: null, assumes: [] },
      facts: {
        version: null,
        model: null,
        maxModelLen: null,
        kvBlocks: null,
        blockSize: null,
        hardware: null,
        tp: null,
      },
    });
    const file = join(folder, 'chat@vllm.json');
    const half = readFileSync(file, 'utf8').slice(0, 200);
    writeFileSync(file, half);
    const [state] = fleet.profiles({ folder: new ProfileFolder(folder) }).states();
    expect(state!.profile).toBeNull();
    expect(fleet.warnings[0]).toContain('chat@vllm.json: not a readable profile, ignored');
    expect(readFileSync(file, 'utf8')).toBe(half);
  });

  it('continues where the folder cannot be written', async () => {
    writeFileSync(join(path, 'file'), '');
    const profiles = fleet.profiles({ folder: new ProfileFolder(join(path, 'file', 'profiles')) });
    await fleet.run(profiles, 6);
    expect(profiles.states()[0]!.profile!.name).toBe('first');
    expect(fleet.warnings[0]).toMatch(/^the profile of endpoint chat was not saved: /);
  });
});
