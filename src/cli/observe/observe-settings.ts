import type { ObservedServer, ObserveOptions } from '../../observe/drive/observation.js';
import type { TraceServer } from '../../workload/trace.js';
import { SERVER_FLAGS } from '../config/server-settings.js';
import type { CliIo } from '../io.js';
import type { GivenObserveFlags } from './check-observe-flags.js';
import { readKey } from './read-server-flags.js';

const DEFAULT_CONCURRENCY = 256;
const KEY_VARIABLES = ['TWINYARD_API_KEY', 'OPENAI_API_KEY'] as const;

/** The server to measure, from flags and environment. */
export function observedServer({ values }: GivenObserveFlags, env: CliIo['env']): ObservedServer {
  const variable = KEY_VARIABLES.find((name) => env[name]);
  const apiKey = values['api-key'] ?? (variable === undefined ? undefined : readKey(env[variable]!, variable));
  const settings: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(SERVER_FLAGS)) {
    const value = flag === 'model' ? null : values[flag];
    if (value !== null) settings[name] = value;
  }
  return {
    url: values['server-url']!,
    model: values.model!,
    ...(apiKey === undefined ? {} : { apiKey }),
    headers: values.header,
    settings: settings as TraceServer,
  };
}

export function observeOptions({ values }: GivenObserveFlags): ObserveOptions {
  return {
    apiFormat: values['api-format'] === 'chat' ? 'chat' : 'completions',
    streaming: !values['no-streaming'],
    constrained: !values['unconstrained-output'],
    maxConcurrency: values['max-concurrency'] ?? values.concurrency ?? DEFAULT_CONCURRENCY,
    warmUpRequests: values['warmup-requests'],
    prewarmUs: values['prewarm-duration'] * 1e6,
    timeoutUs: values.timeout > 0 ? values.timeout * 1e6 : Number.POSITIVE_INFINITY,
    maxLatenessUs: values['max-lateness-ms'] * 1000,
    recordItl: values['record-itl'],
    scrapeIntervalMs: values['scrape-kv-metrics'] ? values['scrape-interval-ms'] : null,
    ...(values['rtt-ms'] === null ? {} : { rttMs: values['rtt-ms'] }),
  };
}
