import { isJsonObject, parseJsonFile } from '../../../replica/catalogue/load-json.js';
import { inParallel } from '../in-parallel.js';
import type { ModelSource } from './model-source.js';
import { readTensorHeader, type TensorHeader } from './tensor-header.js';

/** Facts about a model's weights from its files; null where they are not known. */
export interface ModelWeights {
  readonly parameters: number | null;
  readonly bytes: number | null;
  /** The type of most weights, named as in `config.json`. */
  readonly dtype: string | null;
}

const INDEX = 'model.safetensors.index.json';
const SAFETENSORS = /^[^/]+\.safetensors$/;
const SECOND_COPY = /^consolidated/;
/** `model-00001-of-00004.safetensors`. */
const SHARD = /-\d+-of-(\d+)\.safetensors$/;
/** Formats without a parameter count; the first one found is used. */
const OTHER_FORMATS: readonly RegExp[] = [/^[^/]+\.gguf$/, /^[^/]+\.bin$/, /^[^/]+\.(?:pth|pt|ckpt)$/];
const DTYPES: Readonly<Record<string, string>> = { F32: 'float32', F16: 'float16', BF16: 'bfloat16' };
/** Headers read at the same time. */
const READS = 8;

const UNKNOWN: ModelWeights = { parameters: null, bytes: null, dtype: null };

export async function readModelWeights(source: ModelSource): Promise<ModelWeights> {
  const shards = await safetensorsOf(source);
  if (shards === null) return UNKNOWN;
  if (shards.length === 0) return { ...UNKNOWN, bytes: otherBytes(source) };
  const headers: TensorHeader[] = [];
  await inParallel(shards, READS, async (path, i) => {
    headers[i] = await readTensorHeader(source, path);
  });
  const numbers = new Map<string, number>();
  for (const header of headers) {
    for (const [type, count] of header.numbers) numbers.set(type, (numbers.get(type) ?? 0) + count);
  }
  const [most] = [...numbers].sort((a, b) => b[1] - a[1])[0] ?? [''];
  const sum = [...numbers.values()].reduce((total, count) => total + count, 0);
  return {
    parameters: headers.some(({ packed }) => packed) ? null : sum,
    bytes: headers.reduce((total, { bytes }) => total + bytes, 0),
    dtype: DTYPES[most] ?? null,
  };
}

/** The files that together hold each weight once; null when some are missing. */
async function safetensorsOf(source: ModelSource): Promise<string[] | null> {
  const all = [...source.sizes.keys()].filter((path) => SAFETENSORS.test(path));
  const usual = all.filter((path) => !SECOND_COPY.test(path));
  const indexed = await readIndex(source);
  if (indexed !== null) return indexed.every((path) => source.sizes.has(path)) ? indexed : null;
  const found = usual.length > 0 ? usual : all;
  const wanted = Number(SHARD.exec(found[0] ?? '')?.[1] ?? found.length);
  return found.length === wanted ? found : null;
}

async function readIndex(source: ModelSource): Promise<string[] | null> {
  const size = source.sizes.get(INDEX);
  if (size === undefined) return null;
  const text = (await source.read(INDEX, 0, size)).toString('utf8');
  const { weight_map: map } = parseJsonFile(text, `${source.place}/${INDEX}`);
  const files = isJsonObject(map) ? Object.values(map).filter((path) => typeof path === 'string') : [];
  return files.length === 0 ? null : [...new Set(files)].sort();
}

function otherBytes({ sizes }: ModelSource): number | null {
  for (const format of OTHER_FORMATS) {
    const found = [...sizes].filter(([path]) => format.test(path));
    if (found.length > 0) return found.reduce((total, [, size]) => total + size, 0);
  }
  return null;
}
