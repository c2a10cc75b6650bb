import { above, field, map, number, required, section, text } from '../../schema/fields.js';
import { checkValue } from '../../schema/read-json.js';
import { FIELD_CODES, unknownGpu } from '../errors.js';
import { cataloguePath } from './catalogue-path.js';
import type { GpuSpec } from './contract.js';
import { loadJsonObject } from './load-json.js';

export interface GpuOptions {
  /** A file of rows like those of the bundled `hardware.json`; its rows come before the bundled ones. */
  hardwareConfig?: string;
}

const GPU_SCHEMA = map(
  'GPUs',
  section('GPU', {
    TFlopsPeak: required(above(0), { help: 'dense 16-bit rate in TFLOPS' }),
    TFlopsFP8: field(number(0), { default: 0, help: 'FP8 rate in TFLOPS; 0 for none' }),
    BwPeakTBs: required(above(0), { help: 'memory bandwidth in TB/s' }),
    mfuPrefill: required(above(0, 1), { help: 'share of the rate that prefill reaches' }),
    mfuDecode: required(above(0, 1), { help: 'share of the rate that decode reaches' }),
    MemoryGiB: required(above(0), { help: 'memory in GiB' }),
    source: field(text(), { help: 'where the numbers come from' }),
  }),
);

/** Finds a GPU by name; upper and lower case are the same unless an exact match exists. */
export function loadGpu(name: string, options: GpuOptions = {}): GpuSpec {
  const bundled = cataloguePath('hardware.json');
  const files = options.hardwareConfig === undefined ? [bundled] : [options.hardwareConfig, bundled];
  const tables = files.map((file) => ({ file, rows: loadJsonObject(file, { uniqueKeys: true }) }));

  for (const same of [(row: string) => row === name, (row: string) => row.toLowerCase() === name.toLowerCase()]) {
    for (const { file, rows } of tables) {
      const found = Object.keys(rows).find(same);
      if (found !== undefined) return parseGpu(file, found, rows[found]);
    }
  }
  throw unknownGpu(name, [...new Set(tables.flatMap(({ rows }) => Object.keys(rows)))]);
}

/** Names of the GPUs that come with the package. */
export function bundledGpus(): string[] {
  return Object.keys(loadJsonObject(cataloguePath('hardware.json'), { uniqueKeys: true }));
}

function parseGpu(file: string, name: string, given: unknown): GpuSpec {
  const row = checkValue({ [name]: given }, GPU_SCHEMA, FIELD_CODES, file)[name]!;
  return {
    name,
    tflops: row.TFlopsPeak,
    tflopsFp8: row.TFlopsFP8,
    bandwidthTBs: row.BwPeakTBs,
    mfuPrefill: row.mfuPrefill,
    mfuDecode: row.mfuDecode,
    memoryGiB: row.MemoryGiB,
  };
}
