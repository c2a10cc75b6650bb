import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeSummary } from '../fake-experiment.fixture.js';
import { NO_CACHE, openRunCache } from './run-cache.js';
import { resultBytes } from './shard.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-cache-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('openRunCache', () => {
  it('returns what was stored, to the bit, and creates its folder', async () => {
    const path = join(folder, 'deep', 'runs');
    const summary = resultBytes(fakeSummary({ ttft_p99_ms: 0.1 + 0.2 }));
    expect((await openRunCache(path)).put('key', summary)).toBe(true);
    expect(await (await openRunCache(path)).get('key')).toEqual(summary);
    expect(readdirSync(path)).toEqual(['key.json']);
  });

  it('is undefined for a key that was not stored', async () => {
    expect(await (await openRunCache(folder)).get('key')).toBeUndefined();
  });

  it.each<[string, (text: string) => string]>([
    ['cut off', (text) => text.slice(0, -5)],
    ['changed', (text) => text.replace('"requests":10', '"requests":11')],
    ['empty', () => ''],
    ['something else', () => 'no\n{}'],
  ])('ignores a file that is %s', async (_, damage) => {
    const cache = await openRunCache(folder);
    cache.put('key', resultBytes(fakeSummary()));
    const path = join(folder, 'key.json');
    writeFileSync(path, damage(readFileSync(path, 'utf8')));
    expect(await cache.get('key')).toBeUndefined();
  });

  it('reports a failure to write, and leaves nothing behind', async () => {
    const cache = await openRunCache(join(folder, 'gone'));
    rmSync(join(folder, 'gone'), { recursive: true });
    expect(cache.put('key', resultBytes(fakeSummary()))).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('refuses a place that is not a folder', async () => {
    const path = join(folder, 'file');
    writeFileSync(path, '');
    for (const place of [path, join(path, 'below')]) {
      await expect(openRunCache(place)).rejects.toMatchObject({
        code: 'CACHE_NOT_USABLE',
        place,
        problem: 'is not a folder',
      });
    }
  });
});

describe('NO_CACHE', () => {
  it('keeps nothing', async () => {
    expect(NO_CACHE.put('key', resultBytes(fakeSummary()))).toBe(true);
    expect(await NO_CACHE.get('key')).toBeUndefined();
  });
});
