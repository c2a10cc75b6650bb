import { basename, dirname, join, resolve } from 'node:path';
import { InputError } from '../../kernel/errors.js';
import type { YamlPlaces } from '../../schema/yaml-places.js';
import { absoluteAddress, storeFile } from '../../store/database/store-address.js';
import { configInvalid } from './config-parts.js';
import { type AccessConfig, DEFAULT_LINES, type GatewayConfig, type LinesConfig } from './gateway-config.js';

export interface AccessKeys {
  keys?: 'required' | 'off';
  on_store_failure?: 'closed' | 'open';
  refresh_ms?: number;
  wrong_keys_per_minute?: number;
  default_output_tokens?: number;
}

export interface PriceKeys {
  model: string;
  input: number;
  cached_input?: number;
  output: number;
}

interface ConfigKeys {
  store?: string;
  data_dir?: string;
  access?: AccessKeys;
  prices?: PriceKeys[];
  limits?: Record<string, number>;
  record?: string;
  access_log?: string;
  tracing?: { endpoint: string; sample?: number };
}

type AccessParts = Pick<GatewayConfig, 'store' | 'dataDir' | 'access' | 'prices' | 'record' | 'accessLog' | 'tracing'>;

/** What twinyard.yaml says of keys, money and what is written down of requests. Paths are relative to its folder. */
export function accessParts(keys: ConfigKeys, folder: string, base: GatewayConfig, places: YamlPlaces): AccessParts {
  const store = keys.store === undefined ? base.store : storeOf(keys.store, folder, places);
  const required = keys.access?.keys ?? (store === null ? base.access.keys : 'required');
  if (required === 'required' && store === null) {
    throw configInvalid(
      places.of('access.keys'),
      'keys are required, but there is no store',
      "add 'store: twinyard.db'",
    );
  }
  const lines = (path: string | undefined, otherwise: LinesConfig | null): LinesConfig | null => {
    if (path === undefined) return otherwise;
    const { log_bytes: maxBytes = DEFAULT_LINES.maxBytes, log_files: files = DEFAULT_LINES.files } = keys.limits ?? {};
    return { path: path === '-' ? path : resolve(folder, path), maxBytes, files };
  };
  if (keys.record === '-') {
    throw configInvalid(places.of('record'), 'traffic is recorded in files', 'give a path such as traffic.jsonl');
  }
  return {
    store,
    dataDir: keys.data_dir === undefined ? dataDirOf(store, base) : resolve(folder, keys.data_dir),
    access: accessOf(keys.access ?? {}, base.access, required),
    prices: pricesOf(keys.prices, base, places),
    record: lines(keys.record, base.record),
    accessLog: lines(keys.access_log, base.accessLog),
    tracing: tracingOf(keys.tracing, base, places),
  };
}

function storeOf(address: string, folder: string, places: YamlPlaces): string {
  try {
    return absoluteAddress(address, folder);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw configInvalid(places.of('store'), error.problem, error.hint);
  }
}

const DATA_DIR = '.twinyard';

/** The folder of the data: beside a store that is a file, or the one that the store is in. */
export function dataDirOf(store: string | null, base: GatewayConfig): string {
  const file = store === null ? null : storeFile(store);
  if (file === null) return base.dataDir;
  const folder = dirname(file);
  return basename(folder) === DATA_DIR ? folder : join(folder, DATA_DIR);
}

function accessOf(keys: AccessKeys, base: AccessConfig, required: AccessConfig['keys']): AccessConfig {
  return {
    keys: required,
    onStoreFailure: keys.on_store_failure ?? base.onStoreFailure,
    refreshMs: keys.refresh_ms ?? base.refreshMs,
    wrongKeysPerMinute: keys.wrong_keys_per_minute ?? base.wrongKeysPerMinute,
    defaultOutputTokens: keys.default_output_tokens ?? base.defaultOutputTokens,
  };
}

function pricesOf(keys: PriceKeys[] | undefined, base: GatewayConfig, places: YamlPlaces): GatewayConfig['prices'] {
  if (keys === undefined) return base.prices;
  keys.forEach(({ model }, i) => {
    if (keys.findIndex((other) => other.model === model) === i) return;
    throw configInvalid(places.of(`prices[${i}].model`), `'${model}' has two prices`, 'give each model one');
  });
  return keys.map(({ model, input, cached_input = input, output }) => ({
    model,
    input,
    cachedInput: cached_input,
    output,
  }));
}

function tracingOf(keys: ConfigKeys['tracing'], base: GatewayConfig, places: YamlPlaces): GatewayConfig['tracing'] {
  if (keys === undefined) return base.tracing;
  if (!/^https?:\/\//.test(keys.endpoint) || !URL.canParse(keys.endpoint)) {
    const problem = `'${keys.endpoint}' is not a URL`;
    throw configInvalid(places.of('tracing.endpoint'), problem, 'give one such as http://127.0.0.1:4318');
  }
  return { endpoint: keys.endpoint, sample: keys.sample ?? 1 };
}
