import { measuredEngine } from '../../engines/registry.js';
import type { JsonObject } from '../../protocol/json/json-body.js';
import { readSamples } from '../../protocol/prometheus/read-samples.js';
import type { PageLimits, ReplicaPage } from '../upstream/page-client.js';

/** What a running engine says of itself, and its configuration of it; null for what is not known. */
export interface EngineFacts {
  readonly version: string | null;
  readonly model: string | null;
  readonly maxModelLen: number | null;
  readonly kvBlocks: number | null;
  readonly blockSize: number | null;
  readonly hardware: string | null;
  /** Tensor parallelism. */
  readonly tp: number | null;
}

export const UNKNOWN_FACTS: EngineFacts = {
  version: null,
  model: null,
  maxModelLen: null,
  kvBlocks: null,
  blockSize: null,
  hardware: null,
  tp: null,
};

/** A replica as far as its facts are concerned. */
export interface FactsReplica {
  readonly id: string;
  readonly engine: string;
  readonly hardware: string;
  readonly tp: number;
  readonly loadPath: string;
  readonly models: ReadonlySet<string>;
  /** By model, as its list of models describes them. */
  readonly cards: ReadonlyMap<string, JsonObject> | null;
  page(path: string, limits: PageLimits): Promise<ReplicaPage>;
}

const MOST_BYTES = 8 * 1024 * 1024;

/** Reads the version and settings of an engine. Never throws: what it does not say is null. */
export async function readEngineFacts(replica: FactsReplica, timeoutMs: number): Promise<EngineFacts> {
  const limits = { timeoutMs, mostBytes: MOST_BYTES };
  const page = async (path: string) => {
    const { status, text } = await replica.page(path, limits);
    return status === 200 ? text : '';
  };
  const { version } = measuredEngine(replica.engine, replica.id);
  const [found, samples] = await Promise.all([
    page(version.path)
      .then((text) => version.read(JSON.parse(text) as object) ?? null)
      .catch(() => null),
    page(replica.loadPath)
      .then(readSamples)
      .catch(() => readSamples('')),
  ]);
  const label = (name: string) => counted(samples.label('vllm:cache_config_info', name));
  return {
    version: found,
    ...modelFacts(replica),
    kvBlocks: label('num_gpu_blocks'),
    blockSize: label('block_size'),
    hardware: replica.hardware === '' ? null : replica.hardware,
    tp: replica.tp === 0 ? null : replica.tp,
  };
}

/** Of the model that it serves; of the first where there are several, as with adapters. */
function modelFacts({ cards, models }: FactsReplica): Pick<EngineFacts, 'model' | 'maxModelLen'> {
  const [served] = models;
  if (served === undefined) return { model: null, maxModelLen: null };
  const card = cards?.get(served);
  const meta = card?.meta as { n_ctx?: unknown } | null | undefined;
  const root = card?.root;
  return {
    model: typeof root === 'string' && root !== '' ? root : served,
    maxModelLen: counted(card?.max_model_len ?? meta?.n_ctx),
  };
}

function counted(value: unknown): number | null {
  const count = Number(value ?? Number.NaN);
  return Number.isInteger(count) && count > 0 ? count : null;
}
