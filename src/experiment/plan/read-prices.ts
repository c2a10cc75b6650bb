import { InputError } from '../../kernel/errors.js';
import { above, field, map, required, section, text } from '../../schema/fields.js';
import { readYaml } from '../../schema/read-yaml.js';
import { readInputFile } from '../../workload/input-file.js';

/** What GPUs cost, as a user wrote it: no price comes from anywhere else. */
export interface GpuPrices {
  path: string;
  currency: string;
  /** By the name of the GPU, in lower case: an hour of one. */
  perGpuHour: ReadonlyMap<string, number>;
}

const CODES = { invalid: 'PRICES_INVALID', unknownKey: 'PRICES_UNKNOWN_KEY' };

export const PRICES_SCHEMA = section('prices', {
  currency: field(text(16), { help: 'name of the currency, for people' }),
  per_gpu_hour: required(map('GPU types', above(0, 1e9), text(64)), {
    help: 'what an hour of one GPU costs, by GPU type',
  }),
});

export async function readPrices(path: string): Promise<GpuPrices> {
  return parsePrices((await readInputFile(path)).toString('utf8'), path);
}

export function parsePrices(content: string, path: string): GpuPrices {
  const { value } = readYaml(content, path, PRICES_SCHEMA, CODES, "start with 'per_gpu_hour:'");
  const perGpuHour = new Map(Object.entries(value.per_gpu_hour).map(([gpu, price]) => [gpu.toLowerCase(), price]));
  return { path, currency: value.currency ?? '', perGpuHour };
}

/** Refuses prices that leave out one of the GPUs: the cheapest of the others might not be the cheapest. */
export function checkPrices({ path, perGpuHour }: GpuPrices, gpus: readonly string[]): void {
  const missing = [...new Set(gpus)].filter((gpu) => !perGpuHour.has(gpu.toLowerCase()));
  if (missing.length === 0) return;
  const hint = `add ${missing.map((gpu) => `'${gpu}: <price of an hour>'`).join(' and ')} under per_gpu_hour`;
  throw new InputError('PRICE_MISSING', path, `no price for ${missing.join(' or ')}`, hint);
}
