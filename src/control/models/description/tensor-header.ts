import { isJsonObject } from '../../../replica/catalogue/load-json.js';
import { badWeights } from '../errors.js';
import type { ModelSource } from './model-source.js';

/** The header of a safetensors file. */
export interface TensorHeader {
  /** Number of weights by type: `BF16`, `F8_E4M3`; without buffers and scales of quantised weights. */
  readonly numbers: ReadonlyMap<string, number>;
  /** Of all tensors. */
  readonly bytes: number;
  /** Several weights are packed into one number, so that they cannot be counted. */
  readonly packed: boolean;
}

/** The limit of the format. */
const MOST_HEADER_BYTES = 100_000_000;
/** Types of weights; others are indices and masks. */
const WEIGHT_TYPE = /^(?:BF16|I8|F\d)/;
/** Types that may hold several weights of fewer bits, in tensors with rows and columns. */
const PACKING_TYPES = ['U8', 'I32', 'U32'];
const SCALE = /(?:_scale|_scale_inv|\.scales|_zero_point|\.inv_freq)$/;

/** Reads only the header: the weights may be remote. */
export async function readTensorHeader(source: ModelSource, path: string): Promise<TensorHeader> {
  const place = `${source.place}/${path}`;
  const size = source.sizes.get(path)!;
  if (size < 8) throw badWeights(place, 'is too short for a safetensors file');
  const length = Number((await source.read(path, 0, 8)).readBigUInt64LE());
  if (length > MOST_HEADER_BYTES || 8 + length > size) throw badWeights(place, 'has no safetensors header');
  const tensors = parsed(await source.read(path, 8, length), place);
  const numbers = new Map<string, number>();
  let packed = false;
  let end = 0;
  for (const [name, value] of Object.entries(tensors)) {
    if (name === '__metadata__') continue;
    const { count, dimensions, type, upTo } = readTensor(name, value, place);
    end = Math.max(end, upTo);
    if (PACKING_TYPES.includes(type) && dimensions > 1) packed = true;
    if (WEIGHT_TYPE.test(type) && !SCALE.test(name)) numbers.set(type, (numbers.get(type) ?? 0) + count);
  }
  if (8 + length + end !== size)
    throw badWeights(place, `has ${size} bytes, but its header describes ${8 + length + end}`);
  return { numbers, bytes: end, packed };
}

function parsed(bytes: Buffer, place: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (isJsonObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw badWeights(place, 'has no safetensors header');
}

function readTensor(name: string, value: unknown, place: string) {
  const { data_offsets: offsets, dtype: type, shape } = isJsonObject(value) ? value : {};
  if (typeof type !== 'string' || !isCounts(shape) || !isCounts(offsets) || offsets.length !== 2) {
    throw badWeights(place, `its header has no valid tensor at ${JSON.stringify(name)}`);
  }
  const count = shape.reduce((product, dimension) => product * dimension, 1);
  return { type, count, dimensions: shape.length, upTo: offsets[1]! };
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((one) => Number.isSafeInteger(one) && one >= 0);
}
