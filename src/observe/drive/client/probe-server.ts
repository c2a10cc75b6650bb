import { readSamples } from '../../../protocol/prometheus/read-samples.js';
import type { TraceServer } from '../../../workload/trace.js';
import { modelNotServed, serverFails } from './errors.js';
import type { ServerClient } from './server-client.js';

/** Problems of the list of models after which nothing else is worth trying. */
const HOPELESS = new Set(['refused', 'hang', 'cut', 'malformed', 'http_401', 'http_403']);

interface ServedModel {
  id?: unknown;
  root?: unknown;
  owned_by?: unknown;
  max_model_len?: unknown;
  meta?: { n_ctx?: unknown; n_ctx_train?: unknown } | null;
}

/** Reads the models and the settings of a server. Throws when it does not respond, or does not serve this model. */
export async function probeServer(
  client: ServerClient,
  url: string,
  model: string,
  timeoutMs: number,
): Promise<TraceServer> {
  const list = await client.ask('/v1/models', timeoutMs);
  if (list.problem !== undefined && HOPELESS.has(list.problem.class)) {
    throw serverFails(url, 'the list of models', list.problem);
  }
  const models = modelsOf(list.text);
  const served = models.find(({ id }) => id === model);
  if (models.length > 0 && served === undefined)
    throw modelNotServed(
      model,
      url,
      models.map(({ id }) => String(id)),
    );
  const [version, metrics] = await Promise.all([client.ask('/version', timeoutMs), client.ask('/metrics', timeoutMs)]);
  const length = served?.max_model_len ?? served?.meta?.n_ctx ?? served?.meta?.n_ctx_train;
  return {
    ...(typeof served?.owned_by === 'string' ? { type: served.owned_by } : {}),
    ...versionOf(version.text),
    model: typeof served?.root === 'string' && served.root !== '' ? served.root : model,
    ...cacheOf(metrics.text ?? ''),
    ...(isCount(length) ? { maxModelLen: length } : {}),
  };
}

function modelsOf(text: string | undefined): ServedModel[] {
  const { data } = parsed(text) as { data?: unknown };
  return Array.isArray(data) ? data.filter((one) => one !== null && typeof one === 'object') : [];
}

function versionOf(text: string | undefined): TraceServer {
  const { version } = parsed(text) as { version?: unknown };
  return typeof version === 'string' ? { version } : {};
}

/** Settings of the KV cache among vLLM's metrics. */
function cacheOf(text: string): TraceServer {
  const samples = readSamples(text);
  const [blockSize, totalKvBlocks, share] = ['block_size', 'num_gpu_blocks', 'gpu_memory_utilization'].map((label) =>
    Number(samples.label('vllm:cache_config_info', label)),
  );
  return {
    ...(isCount(blockSize) ? { blockSize } : {}),
    ...(isCount(totalKvBlocks) ? { totalKvBlocks } : {}),
    ...(share! > 0 ? { gpuMemoryUtilization: share! } : {}),
  };
}

function parsed(text: string | undefined): object {
  try {
    return (JSON.parse(text ?? '{}') as object | null) ?? {};
  } catch {
    return {};
  }
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0;
}
