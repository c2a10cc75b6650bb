import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkUnchanged, filesSha256, traceRecipe } from './trace-recipe.js';

const REPLAYED = { sessionMode: 'fixed', thinkTimeMs: null, thinkTimeDist: null, maxTurns: null };
let folder: string;
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-trace-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('traceRecipe', () => {
  it('includes a header next to the data', async () => {
    const data = file('t.csv', 'data');
    const alone = await traceRecipe({ header: null, data, ...REPLAYED });
    file('t.yaml', 'header');
    const both = await traceRecipe({ header: null, data, ...REPLAYED });
    expect(both.sha256).not.toBe(alone.sha256);
    expect(await traceRecipe({ header: join(folder, 't.yaml'), data, ...REPLAYED })).toMatchObject({
      sha256: both.sha256,
      kind: 'trace',
    });
  });

  it('includes rotated files', async () => {
    const data = file('traffic.jsonl', 'new');
    const alone = await traceRecipe({ header: null, data, ...REPLAYED });
    file('traffic.jsonl.1', 'old');
    const both = await traceRecipe({ header: null, data, ...REPLAYED, part: { model: 'm' } });
    expect(both.sha256).not.toBe(alone.sha256);
    expect(both.part).toEqual({ model: 'm' });
  });
});

describe('checkUnchanged', () => {
  it('fails when the file changed under way, and names it', async () => {
    const data = file('t.csv', 'data');
    const recipe = await traceRecipe({ header: null, data, ...REPLAYED });
    await checkUnchanged(recipe);
    file('t.csv', 'data and more');
    await expect(checkUnchanged(recipe)).rejects.toMatchObject({ code: 'TRACE_CHANGED', place: data });
  });
});

describe('filesSha256', () => {
  it('distinguishes files by content and by where one ends', async () => {
    const [ab, c, a, bc] = [file('ab', 'ab'), file('c', 'c'), file('a', 'a'), file('bc', 'bc')];
    expect(await filesSha256([ab, c])).not.toBe(await filesSha256([a, bc]));
  });

  it('takes the files of a folder by name', async () => {
    mkdirSync(join(folder, 'parts', 'inner'), { recursive: true });
    file('parts/2', 'second');
    file('parts/1', 'first');
    expect(await filesSha256([join(folder, 'parts')])).toBe(
      await filesSha256([join(folder, 'parts/1'), join(folder, 'parts/2')]),
    );
  });

  it('names a file that cannot be read', async () => {
    await expect(filesSha256([join(folder, 'none')])).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      place: join(folder, 'none'),
      problem: 'no such file',
    });
  });
});
