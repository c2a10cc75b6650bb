import { basename, dirname, join, resolve } from 'node:path';
import { InputError } from '../../kernel/errors.js';
import { camelKeys } from '../../schema/names.js';
import type { YamlPlaces } from '../../schema/yaml-places.js';
import { absoluteAddress, storeFile } from '../../store/database/store-address.js';
import { configInvalid } from './config-parts.js';
import { type ConfigValues, GATEWAY_DEFAULTS, type GatewayConfig, type LinesConfig } from './gateway-config.js';

type AccessParts = Pick<GatewayConfig, 'store' | 'dataDir' | 'access' | 'prices' | 'record' | 'accessLog' | 'tracing'>;

/** The keys of twinyard.yaml about API keys, prices and logs of requests. Paths are relative to its folder. */
export function accessParts(keys: ConfigValues, folder: string, places: YamlPlaces): AccessParts {
  const store = keys.store === undefined ? null : storeOf(keys.store, folder, places);
  const needed = keys.access.keys ?? (store === null ? 'off' : 'required');
  if (needed !== 'off' && store === null) {
    throw configInvalid(
      places.of('access.keys'),
      `keys are ${needed}, but there is no store`,
      "add 'store: twinyard.db'",
    );
  }
  if (keys.access.jwt !== undefined && store === null) {
    throw configInvalid(places.of('access.jwt'), 'tokens need a store', "add 'store: twinyard.db'");
  }
  const { log_bytes: maxBytes, log_files: files } = keys.limits;
  const lines = (path: string | undefined): LinesConfig | null =>
    path === undefined ? null : { path: path === '-' ? path : resolve(folder, path), maxBytes, files };
  if (keys.record === '-') {
    throw configInvalid(places.of('record'), 'traffic is recorded in files', 'give a path such as traffic.jsonl');
  }
  return {
    store,
    dataDir: keys.data_dir === undefined ? dataDirOf(store) : resolve(folder, keys.data_dir),
    access: { ...camelKeys(keys.access), keys: needed },
    prices: pricesOf(keys.prices ?? [], places),
    record: lines(keys.record),
    accessLog: lines(keys.access_log),
    tracing: tracingOf(keys.tracing, places),
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

/** The data folder: beside a store that is a file, or the folder of the store. */
export function dataDirOf(store: string | null): string {
  const file = store === null ? null : storeFile(store);
  if (file === null) return GATEWAY_DEFAULTS.dataDir;
  const folder = dirname(file);
  return basename(folder) === DATA_DIR ? folder : join(folder, DATA_DIR);
}

function pricesOf(keys: NonNullable<ConfigValues['prices']>, places: YamlPlaces): GatewayConfig['prices'] {
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

function tracingOf(keys: ConfigValues['tracing'], places: YamlPlaces): GatewayConfig['tracing'] {
  if (keys === undefined) return null;
  if (!/^https?:\/\//.test(keys.endpoint) || !URL.canParse(keys.endpoint)) {
    const problem = `'${keys.endpoint}' is not a URL`;
    throw configInvalid(places.of('tracing.endpoint'), problem, 'give one such as http://127.0.0.1:4318');
  }
  return { endpoint: keys.endpoint, sample: keys.sample };
}
