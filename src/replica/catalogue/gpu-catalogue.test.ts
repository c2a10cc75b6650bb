import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadGpu } from './gpu-catalogue.js';

describe('bundled GPUs', () => {
  it.each([
    ['H100', 989.5, 1979, 3.35, 0.45, 0.3, 80],
    ['A100-SXM', 312, 0, 2.039, 0.38, 0.18, 80],
    ['A100-80', 312, 0, 2.039, 0.38, 0.18, 80],
    ['L40S', 362.05, 1466, 0.864, 0.32, 0.08, 48],
    ['H200', 989.5, 1979, 4.8, 0.45, 0.3, 141],
    ['B200', 2250, 4500, 7.7, 0.45, 0.3, 180],
    ['L4', 121, 242, 0.3, 0.32, 0.08, 24],
    ['A10G', 70, 0, 0.6, 0.38, 0.18, 24],
    ['MI300X', 1307.4, 2614.9, 5.3, 0.45, 0.3, 192],
  ])('%s', (name, tflops, tflopsFp8, bandwidthTBs, mfuPrefill, mfuDecode, memoryGiB) => {
    expect(loadGpu(name)).toEqual({ name, tflops, tflopsFp8, bandwidthTBs, mfuPrefill, mfuDecode, memoryGiB });
  });

  it('are found in any case, under their own name', () => {
    expect(loadGpu('h100').name).toBe('H100');
    expect(loadGpu('a100-sxm').name).toBe('A100-SXM');
  });

  it('are suggested for an unknown name', () => {
    expect(() => loadGpu('H10')).toThrow(
      expect.objectContaining({
        code: 'UNKNOWN_GPU',
        place: '--hardware',
        hint: expect.stringMatching(/^did you mean 'H100'\? known: H100, A100-SXM, .*--hardware-config$/),
      }),
    );
  });
});

describe('loadGpu with a file of the user', () => {
  let folder: string;
  const row = { TFlopsPeak: 10, BwPeakTBs: 1, mfuPrefill: 0.5, mfuDecode: 0.25, MemoryGiB: 40 };
  const load = (name: string, content: unknown) => {
    const hardwareConfig = join(folder, 'gpus.json');
    writeFileSync(hardwareConfig, typeof content === 'string' ? content : JSON.stringify(content));
    return loadGpu(name, { hardwareConfig });
  };
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gpus-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('adds rows', () => {
    expect(load('X1', { X1: { ...row, source: 'ours' } })).toMatchObject({ name: 'X1', tflops: 10, tflopsFp8: 0 });
    expect(load('L4', { X1: row }).memoryGiB).toBe(24);
  });

  it('replaces bundled rows as a whole', () => {
    expect(load('H100', { H100: row })).toMatchObject({ tflops: 10, tflopsFp8: 0, memoryGiB: 40 });
  });

  it('prefers an exact name to one in another case', () => {
    expect(load('H100', { h100: row }).tflops).toBe(989.5);
    expect(load('h100', { h100: row }).tflops).toBe(10);
  });

  it('is part of the suggestions', () => {
    expect(() => load('X2', { X1: row })).toThrow(/did you mean 'X1'\?/);
  });

  it.each([
    ['INVALID_FIELD', 'X1.TFlopsPeak', { ...row, TFlopsPeak: undefined }],
    ['INVALID_FIELD', 'X1.MemoryGiB', { ...row, MemoryGiB: undefined }],
    ['INVALID_FIELD', 'X1.TFlopsPeak', { ...row, TFlopsPeak: 0 }],
    ['INVALID_FIELD', 'X1.TFlopsFP8', { ...row, TFlopsFP8: -1 }],
    ['INVALID_FIELD', 'X1.BwPeakTBs', { ...row, BwPeakTBs: '3' }],
    ['INVALID_FIELD', 'X1.mfuPrefill', { ...row, mfuPrefill: 1.5 }],
    ['INVALID_FIELD', 'X1.mfuDecode', { ...row, mfuDecode: 0 }],
    ['INVALID_FIELD', 'X1.MemoryGiB', { ...row, MemoryGiB: null }],
    ['UNKNOWN_FIELD', 'X1.TFlopsFp8', { ...row, TFlopsFp8: 20 }],
    ['UNKNOWN_FIELD', 'X1.mfuPrefil', { ...row, mfuPrefill: undefined, mfuPrefil: 0.5 }],
    ['UNKNOWN_FIELD', 'X1.MemoryGib', { ...row, MemoryGib: 20 }],
    ['UNKNOWN_FIELD', 'X1.price', { ...row, price: 20 }],
    ['INVALID_FIELD', 'X1', 80],
  ])('%s %s (%#)', (code, field, bad) => {
    expect(() => load('X1', { X1: bad })).toThrow(
      expect.objectContaining({ name: 'InputError', code, place: `${join(folder, 'gpus.json')} (${field})` }),
    );
  });

  it('names file, line and column of malformed JSON', () => {
    expect(() => load('X1', '{\n"X1": {,}\n}')).toThrow(
      expect.objectContaining({ code: 'MALFORMED_JSON', place: `${join(folder, 'gpus.json')}:2:8` }),
    );
  });

  it('refuses a GPU that is described twice', () => {
    const text = JSON.stringify(row);
    expect(() => load('X1', `{\n"X1": ${text},\n"X1": ${text}\n}`)).toThrow(
      expect.objectContaining({
        code: 'MALFORMED_JSON',
        place: `${join(folder, 'gpus.json')}:3:1`,
        problem: "'X1' appears twice",
      }),
    );
  });

  it('names a missing file', () => {
    const hardwareConfig = join(folder, 'none.json');
    expect(() => loadGpu('H100', { hardwareConfig })).toThrow(
      expect.objectContaining({ code: 'FILE_NOT_READABLE', place: hardwareConfig }),
    );
    expect(() => loadGpu('H100', { hardwareConfig })).toThrow('no such file');
    expect(() => loadGpu('H100', { hardwareConfig: folder })).toThrow('is a folder');
  });
});
