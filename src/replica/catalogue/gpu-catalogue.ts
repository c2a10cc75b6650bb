import { nearestName } from '../../kernel/nearest-name.js';
import { invalidFileField, missingField, misspeltField, unknownGpu } from '../errors.js';
import { cataloguePath } from './catalogue-path.js';
import type { GpuSpec } from './contract.js';
import { isJsonObject, type JsonFields, loadJsonObject } from './load-json.js';

export interface GpuOptions {
  /** A file of rows like those of the bundled `hardware.json`; its rows come before the bundled ones. */
  hardwareConfig?: string;
}

const FIELDS = ['TFlopsPeak', 'TFlopsFP8', 'BwPeakTBs', 'mfuPrefill', 'mfuDecode', 'MemoryGiB'];

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

function parseGpu(file: string, name: string, row: unknown): GpuSpec {
  if (!isJsonObject(row)) throw invalidFileField(file, name, 'is not an object', `an object with ${FIELDS.join(', ')}`);
  rejectUnknown(file, name, row);
  const number = (field: string, accepted: string, ok: (value: number) => boolean): number => {
    const value = row[field];
    if (value === undefined) throw missingField(file, `${name}.${field}`, accepted);
    if (typeof value !== 'number' || !ok(value)) {
      throw invalidFileField(file, `${name}.${field}`, `${JSON.stringify(value)} is not accepted`, accepted);
    }
    return value;
  };
  const positive = (value: number) => value > 0 && Number.isFinite(value);
  const fraction = (value: number) => value > 0 && value <= 1;
  return {
    name,
    tflops: number('TFlopsPeak', 'the dense 16-bit rate in TFLOPS, above 0', positive),
    tflopsFp8:
      row.TFlopsFP8 === undefined
        ? 0
        : number('TFlopsFP8', 'the FP8 rate in TFLOPS, 0 for none', (value) => value === 0 || positive(value)),
    bandwidthTBs: number('BwPeakTBs', 'the memory bandwidth in TB/s, above 0', positive),
    mfuPrefill: number('mfuPrefill', 'a fraction above 0, at most 1', fraction),
    mfuDecode: number('mfuDecode', 'a fraction above 0, at most 1', fraction),
    memoryGiB: number('MemoryGiB', 'the memory in GiB, above 0', positive),
  };
}

/** Unknown fields are refused, since they would have no effect; `source` documents where the numbers come from. */
function rejectUnknown(file: string, name: string, row: JsonFields): void {
  const known = [...FIELDS, 'source'];
  for (const field of Object.keys(row)) {
    if (known.includes(field)) continue;
    const meant = nearestName(field, known);
    if (meant !== undefined) throw misspeltField(file, `${name}.${field}`, meant);
    throw invalidFileField(file, `${name}.${field}`, 'is not a known field', `only ${known.join(', ')}`);
  }
}
