import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BASE_COLUMNS } from './data/layout.js';
import { readTraceV2 } from './read-trace.js';

const ROW = '0,c,,,,0,,0,false,62,10,0,0,0,0,0,,5000,0,1000,2000,0,0,0,ok,,';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'read-trace-'));
  writeFileSync(join(folder, 'real.yaml'), 'mode: real\n');
  writeFileSync(join(folder, 'generated.yaml.gz'), gzipSync('mode: generated\n'));
  writeFileSync(join(folder, 'trace.csv'), `${BASE_COLUMNS.join(',')}\n${ROW}\n`);
  writeFileSync(join(folder, 'trace.csv.gz'), gzipSync(`${BASE_COLUMNS.join(',')}\n${ROW}\n`));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('readTraceV2', () => {
  it.each([
    ['real.yaml', 'trace.csv', 7000],
    ['generated.yaml.gz', 'trace.csv.gz', 5000],
  ])('reads %s and %s; the mode defines deadlines', async (header, data, deadline) => {
    const trace = await readTraceV2(join(folder, header), join(folder, data));
    expect(trace.table.count).toBe(1);
    expect(trace.table.deadlineUs[0]).toBe(deadline);
    expect(trace.header.mode).toBe(header.split('.')[0]);
  });

  it('refuses blocks of no tokens', async () => {
    const header = join(folder, 'blocks.yaml');
    writeFileSync(header, 'trace_version: 3\nblock_tokens: 0\n');
    await expect(readTraceV2(header, join(folder, 'trace.csv'))).rejects.toMatchObject({
      place: `${header}:2:1 (block_tokens)`,
      hint: 'give at least 1',
    });
  });

  it('names the file that is missing', async () => {
    const missing = join(folder, 'none.yaml');
    await expect(readTraceV2(missing, join(folder, 'trace.csv'))).rejects.toMatchObject({ place: missing });
  });
});
