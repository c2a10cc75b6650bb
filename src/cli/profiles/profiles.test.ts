import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serveApi } from '../../api/api-server.js';
import { configFor, FakeEngine, until } from '../../gateway/fake-engine.fixture.js';
import { Gateway } from '../../gateway/gateway.js';
import { fakeProfile } from '../../replica/latency/fake-profile.fixture.js';
import { profileText, readProfile } from '../../replica/latency/profile-file.js';
import { startProfiles } from '../../twin/profiles/start-profiles.js';
import { inTestFolder } from '../test-folder.fixture.js';
import { captured } from '../test-io.fixture.js';

const EXAMPLES = join(process.cwd(), 'examples');

let gateway: Gateway;
const opened: (() => Promise<unknown>)[] = [];

inTestFolder(() => {});
beforeEach(async () => {
  const engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  const config = configFor([engine, engine]);
  const [endpoint] = config.endpoints;
  const [first, second] = endpoint!.replicas;
  const replicas = [first!, { ...second!, hardware: 'H100' }];
  gateway = new Gateway({ ...config, endpoints: [{ ...endpoint!, name: 'chat', replicas }] });
  gateway.api = serveApi(gateway);
  await gateway.start();
  opened.push(() => gateway.close(0));
  const profiles = startProfiles(gateway);
  opened.push(() => profiles.close());
  await until(() => gateway.isReady);
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const run = (line: string) => captured(`profiles ${line} --server ${gateway.adminUrl} --token ${gateway.adminToken}`);

describe('twinyard profiles', () => {
  it('lists endpoints and engines, and why nothing is predicted', async () => {
    const { code, stdout } = await run('list');
    expect(code).toBe(0);
    expect(stdout.split('\n')[0]).toMatch(/^ENDPOINT +ENGINE +SOURCE +PINNED +AGE +TTFT +ITL +E2E +STATE$/);
    expect(stdout).toMatch(/^chat +vllm +- +no +- /m);
    expect(stdout).toMatch(/^chat +vllm@H100 +- +no +- /m);
    expect(JSON.parse((await run('list --output json')).stdout)).toHaveLength(2);
  });

  it('needs the engine where there are several, and a profile to pin or export', async () => {
    expect(await run('show chat')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('name one of vllm, vllm@H100'),
    });
    expect(await run('show none')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has no latency profile'),
    });
    expect((await run('pin chat vllm')).stderr).toContain('has no profile yet');
    expect((await run('export chat vllm')).stderr).toContain('has no profile yet');
    expect((await run('pin chat vllm --off --latency-profile x.json')).stderr).toContain('keep one of them');
  });

  it('pins the profile of a file, shows it, and exports it as run reads it', async () => {
    const profile = { ...fakeProfile(), scheduler: { totalKvBlocks: 1000, maxModelLen: 4096 } };
    writeFileSync('given.json', profileText(profile));
    const pinned = await run('pin chat vllm@H100 --latency-profile given.json');
    expect(pinned.stdout).toBe('the profile of default/chat, engine vllm@H100, is pinned: it is not fitted again\n');
    expect(gateway.endpoints.get('chat')!.profiles.profileOf('r1')).toEqual(profile);
    expect(gateway.endpoints.get('chat')!.profiles.profileOf('r0')).toBeNull();
    const { stdout } = await run('show chat vllm@H100');
    expect(stdout).toContain('profile:      qwen/qwen3-14b on H100, given, pinned\n');
    expect(stdout).toContain('used:         yes\n');
    expect((await run('export chat vllm@H100 --output out.json')).code).toBe(0);
    expect(readProfile('out.json')).toEqual(profile);
    expect((await run('export chat vllm@H100')).stdout).toBe(readFileSync('out.json', 'utf8'));
    const ran = await captured('run --latency-profile out.json --num-requests 20 --rate 5 --log error');
    expect(JSON.parse(ran.stdout).cluster.completed_requests).toBe(20);
    expect((await run('pin chat vllm@H100 --off')).stdout).toContain('is unpinned: it is fitted again');
  });

  it('exports what replay, calibrate --fit and whatif start from', async () => {
    const profile = { ...fakeProfile(), scheduler: { totalKvBlocks: 3000, maxModelLen: 40_960 } };
    writeFileSync('given.json', profileText(profile));
    await run('pin chat vllm --latency-profile given.json');
    expect((await run('export chat vllm --output out.json')).code).toBe(0);
    const replayed = await captured(`replay --trace ${EXAMPLES}/small-trace --latency-profile out.json --log error`);
    expect(JSON.parse(replayed.stdout).config.replica.latencyProfile.name).toBe('tiny');
    const fitted = await captured(
      `calibrate --fit --trace ${EXAMPLES}/slow-engine --latency-profile out.json --output fitted.json --log error`,
    );
    expect([fitted.code, readProfile('fitted.json').hardware], fitted.stderr).toEqual([0, 'H100']);
    const asked = await captured(
      `whatif --recording ${EXAMPLES}/round-robin.jsonl --latency-profile out.json --policy lmetric --runs 5 --router-block-size 64`,
    );
    expect(asked.code, asked.stderr).toBe(0);
    // The engines of the recording are others: nothing is claimed with this profile.
    expect(JSON.parse(asked.stdout).alternatives[0].refused).toContain('profile');
  });

  it('reports a mistake in the file with its place, and changes nothing', async () => {
    writeFileSync('bad.json', profileText(fakeProfile()).replace('"tp": 1', '"tp": 0'));
    const { code, stderr } = await run('pin chat vllm --latency-profile bad.json');
    expect([code, stderr]).toEqual([2, expect.stringContaining('bad.json')]);
    expect(gateway.endpoints.get('chat')!.profiles.profileOf('r0')).toBeNull();
  });
});
