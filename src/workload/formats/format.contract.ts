import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Trace } from '../trace.js';
import type { TraceFormat } from './format.js';
import { traceFormatOf } from './read-any-trace.js';
import { TRACE_FORMATS } from './registry.js';

/** A small file of a format, and its expected result. */
export interface FormatSample {
  format: TraceFormat;
  path: string;
  arrivalUs: readonly number[];
  inputTokens: readonly number[];
  outputTokens: readonly number[];
}

/** The content of a trace, in plain values. */
export function told({ format, header, notes, table, thinkTimeUs, unsorted, wantedUs }: Trace) {
  const { blocks, count } = table;
  const column = (values: ArrayLike<number>) => Array.from({ length: count }, (_, row) => values[row]!);
  return {
    format,
    mode: header.mode,
    notes: notes ?? [],
    unsorted,
    ids: column(table.idShift).map((shift, row) => row + shift),
    arrivalUs: column(table.arrivalUs),
    wantedUs: column(wantedUs),
    thinkTimeUs: thinkTimeUs === null ? null : column(thinkTimeUs),
    inputTokens: column(table.inputTokens),
    outputTokens: column(table.outputTokens),
    clients: column(table.client).map((index) => table.clients.name(index)),
    models: column(table.model).map((index) => table.models.name(index)),
    sessions: column(table.session).map((index) => table.sessions.name(index)),
    rounds: column(table.round),
    blocks: column(table.idShift).map((_, row) =>
      blocks === null ? [] : Array.from({ length: blocks.blocksOf(row) }, (_, i) => blocks.block(row, i)),
    ),
  };
}

/** What every format promises, tried on a sample. */
export function formatContract(sample: FormatSample): void {
  const { format, path } = sample;
  describe(`${format.name}: ${basename(path)}`, () => {
    let folder: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'trace-format-'));
    });
    afterAll(() => rmSync(folder, { recursive: true }));
    const written = (name: string, content: Buffer | string) => {
      const file = join(folder, name);
      writeFileSync(file, content);
      return file;
    };

    it('is recognised by its own format and by no other', async () => {
      expect(await traceFormatOf(path)).toBe(format);
      const text = readFileSync(path, 'utf8');
      const start = { path, isFolder: false, bytes: readFileSync(path), text };
      expect(TRACE_FORMATS.filter((one) => one.detect(start)).map(({ name }) => name)).toEqual([format.name]);
    });

    it('becomes the expected requests, in file order, with whole microseconds', async () => {
      const trace = told(await format.read(path));
      expect(trace).toMatchObject({
        format: format.name,
        arrivalUs: sample.arrivalUs,
        inputTokens: sample.inputTokens,
        outputTokens: sample.outputTokens,
      });
      expect(trace.arrivalUs.every((us) => Number.isSafeInteger(us) && us >= 0)).toBe(true);
      expect(new Set(trace.ids).size).toBe(trace.ids.length);
    });

    it('sets no model: that is chosen elsewhere', async () => {
      expect(new Set(told(await format.read(path)).models)).toEqual(new Set(['']));
    });

    it('numbers the turns of every session without gaps', async () => {
      const { rounds, sessions } = told(await format.read(path));
      for (const session of new Set(sessions.filter((name) => name !== ''))) {
        const turns = rounds.filter((_, row) => sessions[row] === session).sort((a, b) => a - b);
        expect(turns).toEqual(turns.map((_, i) => i));
      }
    });

    it('reads the same twice, gzipped, and with a byte order mark', async () => {
      const once = told(await format.read(path));
      expect(told(await format.read(path))).toEqual(once);
      const bytes = readFileSync(path);
      const packed = written(`${basename(path)}.gz`, gzipSync(bytes));
      expect(await traceFormatOf(packed)).toBe(format);
      expect(told(await format.read(packed))).toEqual(once);
      if (format.name === 'parquet') return;
      const marked = written(basename(path), Buffer.concat([Buffer.from('\ufeff'), bytes]));
      expect(await traceFormatOf(marked)).toBe(format);
      expect(told(await format.read(marked))).toEqual(once);
    });

    it('names the place of a field after reading', async () => {
      const trace = await format.read(path);
      for (let row = 0; row < trace.table.count; row++) {
        expect(trace.place(row, 'input_tokens')).toMatch(/:(?:\d+:\d+|row \d+) \([^)]+\)$/);
      }
    });

    it('refuses an empty file, a truncated gzip and a missing file with a message', async () => {
      const empty = written('empty', '');
      await expect(format.read(empty)).rejects.toMatchObject({
        name: 'InputError',
        place: expect.stringContaining(empty),
      });
      await expect(traceFormatOf(empty)).rejects.toMatchObject({ code: 'TRACE_EMPTY', place: empty });
      const packed = gzipSync(readFileSync(path));
      const cut = written('cut.gz', packed.subarray(0, packed.length - 12));
      await expect(format.read(cut)).rejects.toMatchObject({ code: 'FILE_DAMAGED', place: cut });
      const missing = join(folder, 'missing');
      await expect(format.read(missing)).rejects.toMatchObject({ code: 'FILE_UNREADABLE', place: missing });
    });
  });
}
