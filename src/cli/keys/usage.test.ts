import { describe, expect, it } from 'vitest';
import { newKey } from '../../store/keys/new-key.fixture.js';
import { openStore } from '../../store/open-store.js';
import { used } from '../../store/usage/used.fixture.js';
import { inTestFolder, silent } from '../test-folder.fixture.js';

inTestFolder(() => {});

/** Two keys, and what they used in three days. */
async function filled(): Promise<{ web: string; night: string }> {
  const store = await openStore('twinyard.db');
  const [{ id: web }, { id: night }] = [await newKey(store, 'web'), await newKey(store, 'night')];
  await store.usage.fold('j', [
    used({ keyId: web, requests: 1200, costNanos: 1_500_000_000 }),
    used({ keyId: web, day: '2026-01-02', outcome: 'client_left', estimatedRequests: 1, costNanos: 15 }),
    used({ keyId: night, model: 'x,y', day: '2026-01-03', endpoint: 'embeddings' }),
    used({ keyId: '', day: '2026-01-03' }),
    used({ keyId: 'longgone', day: '2026-01-03' }),
  ]);
  await store.close();
  return { web, night };
}

const json = async (flags: string) => JSON.parse(await silent(`keys usage --format json ${flags}`));

describe('keys usage', () => {
  it('lists keys by name and models, with a total', async () => {
    const { web, night } = await filled();
    const lines = (await silent('keys usage', { columns: 200 })).trimEnd().split('\n');
    expect(lines[0]).toMatch(/^key +model +requests +input tokens .* estimated requests +dollars$/);
    const rows = lines.slice(1).map((line) => line.split(/ {2,}/));
    expect(rows).toHaveLength(5);
    expect(rows).toContainEqual([`${web} (web)`, 'm', '1,201', '200', '80', '20', '8', '6', '4', '1', '1.50']);
    expect(rows).toContainEqual([`${night} (night)`, 'x,y', '1', '100', '40', '10', '4', '3', '2', '0', '0.000000']);
    expect(rows[0]!.slice(0, 2)).toEqual(['(none)', 'm']);
    expect(rows).toContainEqual(expect.arrayContaining(['longgone']));
    expect(rows[4]).toEqual(['total', '1,204', '500', '200', '50', '20', '15', '10', '1', '1.50']);
  });

  it('fits 80 columns, with the name of the row in each part', async () => {
    await filled();
    for (const by of ['key,model', 'key,model,endpoint,day,outcome']) {
      const lines = (await silent(`keys usage --by ${by}`)).split('\n');
      expect(lines.filter(({ length }) => length > 80)).toEqual([]);
      const heads = lines.filter((line) => line.startsWith('key '));
      expect(heads.length).toBeGreaterThan(1);
      expect(heads.at(-1)).toMatch(/ dollars$/);
    }
  });

  it('filters and groups', async () => {
    const { web } = await filled();
    expect(await json('--key web --by day,outcome')).toMatchObject([
      { day: '2026-01-01', outcome: 'ok', requests: 1200, dollars: 1.5 },
      { day: '2026-01-02', outcome: 'client_left', requests: 1, dollars: 1.5e-8 },
    ]);
    expect(await json('--by total --from 2026-01-02 --to 2026-01-03')).toMatchObject([{ requests: 4 }]);
    expect(await json('--by key --outcome client_left')).toMatchObject([{ key: web, requests: 1 }]);
    expect(await json('--by model --endpoint embeddings')).toMatchObject([{ model: 'x,y' }]);
    expect(await json('--by total --model m --to 2026-01-01')).toMatchObject([{ requests: 1200 }]);
    expect(await json('--model unknown')).toEqual([]);
  });

  it('sums up all workspaces, or the one that is named', async () => {
    await filled();
    expect(await json('--by total')).toMatchObject([{ requests: 1204 }]);
    expect(await json('--by total -n default')).toMatchObject([{ requests: 1204 }]);
    expect(await json('--by total -n search')).toMatchObject([{ requests: 0 }]);
  });

  it('prints CSV', async () => {
    const { night } = await filled();
    expect(
      (await silent('keys usage --key night --by key,model,endpoint,day,outcome --format csv')).split('\r\n'),
    ).toEqual([
      'key,model,endpoint,day,outcome,requests,input_tokens,cached_tokens,output_tokens,reasoning_tokens,characters,audio_seconds,estimated_requests,dollars',
      `${night},"x,y",embeddings,2026-01-03,ok,1,100,40,10,4,3,2,0,0.000000007`,
      '',
    ]);
  });

  it('prints no total of a single row', async () => {
    await filled();
    expect((await silent('keys usage --key night', { columns: 200 })).trimEnd().split('\n')).toHaveLength(2);
    expect((await silent('keys usage --by total', { columns: 200 })).trimEnd().split('\n')).toHaveLength(2);
  });
});
