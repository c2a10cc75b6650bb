import { configInvalid } from '../../config/config-parts.js';
import type { GatewayConfig } from '../../config/gateway-config.js';

const PATH = '/v1/traces';
const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const SHARE = 'OTEL_TRACES_SAMPLER_ARG';

/** The URL for spans of a collector. */
export function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  if (!url.pathname.endsWith(PATH)) url.pathname = url.pathname.replace(/\/$/, '') + PATH;
  return url.href;
}

/** Tracing by OpenTelemetry's own variables where the configuration has none; null when those are not set either. */
export function tracingFromEnvironment(env: NodeJS.ProcessEnv): GatewayConfig['tracing'] {
  const { [ENDPOINT]: endpoint = '', [SHARE]: share = '1' } = env;
  if (endpoint === '' || env.OTEL_SDK_DISABLED === 'true') return null;
  if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint)) {
    throw configInvalid(ENDPOINT, `'${endpoint}' is not a URL`, 'give one such as http://127.0.0.1:4318');
  }
  const sample = Number(share);
  if (!(sample >= 0 && sample <= 1)) throw configInvalid(SHARE, `'${share}' is not a share`, 'give 0 to 1');
  return { endpoint, sample };
}
