import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { type FormatSample, formatContract } from './format.contract.js';
import { parquetFile } from './parquet/parquet-file.fixture.js';
import { traceFormatOf } from './read-any-trace.js';
import { TRACE_FORMATS } from './registry.js';

const format = (name: string) => TRACE_FORMATS.find((one) => one.name === name)!;
const sample = (name: string) => fileURLToPath(new URL(`samples/${name}`, import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'parquet-'));
afterAll(() => rmSync(folder, { recursive: true }));
const parquetPath = join(folder, 'mooncake.parquet');
writeFileSync(
  parquetPath,
  parquetFile(
    [
      { name: 'timestamp', holds: 'whole', values: [0, 250, 1000] },
      { name: 'input_length', holds: 'whole', values: [1300, 900, 512] },
      { name: 'output_length', holds: 'whole', values: [40, 12, 7] },
      { name: 'hash_ids', holds: 'list', values: [[0, 1, 2], [0, 3], [4]] },
    ],
    2,
  ),
);

const SAMPLES: readonly FormatSample[] = [
  {
    format: format('trace-v2'),
    path: sample('trace-v2.csv'),
    arrivalUs: [500_000, 900_000],
    inputTokens: [62, 40],
    outputTokens: [10, 12],
  },
  {
    format: format('traffic'),
    path: sample('traffic.jsonl'),
    arrivalUs: [0, 40_000, 600_000, 950_000],
    inputTokens: [70, 40, 118, 52],
    outputTokens: [30, 12, 20, 21],
  },
  {
    format: format('mooncake'),
    path: sample('mooncake.jsonl'),
    arrivalUs: [0, 250_000, 1_000_000, 1_000_000],
    inputTokens: [1300, 900, 512, 1600],
    outputTokens: [40, 12, 7, 90],
  },
  {
    format: format('bailian'),
    path: sample('bailian.jsonl'),
    arrivalUs: [500_000, 2_250_000, 9_125_000, 20_000_000],
    inputTokens: [700, 512, 1100, 1500],
    outputTokens: [30, 64, 25, 18],
  },
  {
    format: format('bailian'),
    path: sample('b3.jsonl'),
    arrivalUs: [0, 3_400_000, 5_000_000],
    inputTokens: [2000, 600, 2400],
    outputTokens: [300, 20, 110],
  },
  {
    format: format('azure'),
    path: sample('azure-2023.csv'),
    arrivalUs: [0, 0, 1_150_001, 52_199_900_000],
    inputTokens: [410, 96, 2150, 733],
    outputTokens: [52, 8, 0, 121],
  },
  {
    format: format('azure'),
    path: sample('azure-2024.csv'),
    arrivalUs: [0, 981_277, 1_481_277],
    inputTokens: [1201, 88, 640],
    outputTokens: [14, 240, 33],
  },
  {
    format: format('burstgpt'),
    path: sample('burstgpt.csv'),
    arrivalUs: [5e6, 45e6, 45e6, 121e6],
    inputTokens: [430, 1100, 380, 405],
    outputTokens: [22, 210, 0, 260],
  },
  {
    format: format('burstgpt'),
    path: sample('burstgpt-sessions.csv'),
    arrivalUs: [10.5e6, 12e6, 30e6, 40.75e6],
    inputTokens: [120, 900, 64, 310],
    outputTokens: [60, 15, 8, 45],
  },
  {
    format: format('otel'),
    path: sample('otel.json'),
    arrivalUs: [0, 8_000_001, 1_000_000],
    inputTokens: [215, 301, 77],
    outputTokens: [40, 12, 5],
  },
  {
    format: format('otel'),
    path: sample('otel.jsonl'),
    arrivalUs: [0, 500_000],
    inputTokens: [31, 64],
    outputTokens: [9, 3],
  },
  {
    format: format('otel'),
    path: sample('otel-flat.json'),
    arrivalUs: [0, 4_750_000],
    inputTokens: [1500, 1720],
    outputTokens: [80, 11],
  },
  {
    format: format('parquet'),
    path: parquetPath,
    arrivalUs: [0, 250_000, 1_000_000],
    inputTokens: [1300, 900, 512],
    outputTokens: [40, 12, 7],
  },
];

for (const one of SAMPLES) formatContract(one);

describe('TRACE_FORMATS', () => {
  it('has a sample of every format', () => {
    const sampled = new Set(SAMPLES.map((one) => one.format.name));
    expect(TRACE_FORMATS.map(({ name }) => name).filter((name) => !sampled.has(name))).toEqual([]);
  });

  it('names formats once, with words for help and for errors', () => {
    expect(new Set(TRACE_FORMATS.map(({ name }) => name)).size).toBe(TRACE_FORMATS.length);
    for (const { looksLike, summary } of TRACE_FORMATS) expect(looksLike.length * summary.length).toBeGreaterThan(0);
  });

  it('does not take a folder or another text for a trace, and lists the formats', async () => {
    await expect(traceFormatOf(folder)).rejects.toMatchObject({ code: 'TRACE_FORMAT_UNKNOWN', place: folder });
    const path = join(folder, 'notes.txt');
    writeFileSync(path, 'time,tokens\n1,2\n');
    await expect(traceFormatOf(path)).rejects.toMatchObject({
      code: 'TRACE_FORMAT_UNKNOWN',
      hint: expect.stringContaining('azure (a CSV with the columns TIMESTAMP'),
    });
  });
});
