import { camelCase } from '../../../schema/names.js';
import type { TraceGoodputTarget, TraceHeader, TraceServer } from '../../trace.js';
import { SERVER_SCHEMA, TRACE_VERSIONS } from './header-schema.js';

/** The content of a written header besides its format. */
export interface TraceFacts {
  mode: TraceHeader['mode'];
  workloadSeed?: number;
  /** The source of the workload: a file, or `preset:<name>`. */
  workloadSpec?: string;
  sessionContextGrowth?: string;
  /** Tokens of a recorded block, where the data has blocks. */
  blockTokens?: number | undefined;
  goodputTargets?: Record<string, TraceGoodputTarget>;
  warmUpRequests?: number;
  server?: TraceServer;
  rttMs?: number;
  maxInFlight?: number;
  partial?: string;
  late?: string;
  /** When an observation began, in ISO 8601. */
  createdAt?: string;
  /** The server's metrics of an observation, by any names. */
  observedKvMetrics?: Readonly<Record<string, number>>;
}

/** The YAML text of a trace's header. */
export function writeTraceHeader(facts: TraceFacts): string {
  const lines = [`trace_version: ${TRACE_VERSIONS.at(-1)}`, 'time_unit: microseconds'];
  const add = (key: string, text: string | number | undefined) => {
    if (text !== undefined) lines.push(`${key}: ${text}`);
  };
  add('created_at', facts.createdAt === undefined ? undefined : JSON.stringify(facts.createdAt));
  if (facts.mode !== '') add('mode', facts.mode);
  add('warm_up_requests', facts.warmUpRequests ?? 0);
  add('workload_seed', facts.workloadSeed);
  add('workload_spec', facts.workloadSpec === undefined ? undefined : JSON.stringify(facts.workloadSpec));
  if (facts.sessionContextGrowth) add('session_context_growth', word(facts.sessionContextGrowth));
  add('block_tokens', facts.blockTokens);
  lines.push(...serverLines(facts.server));
  if (facts.rttMs !== undefined) lines.push('network:', `  measured_rtt_ms: ${facts.rttMs}`);
  add('max_in_flight', facts.maxInFlight);
  lines.push(...targetLines(facts.goodputTargets ?? {}));
  const metrics = Object.entries(facts.observedKvMetrics ?? {});
  if (metrics.length > 0) lines.push('observed_kv_metrics:', ...metrics.map(([key, value]) => `  ${key}: ${value}`));
  if (facts.partial !== undefined) add('partial', JSON.stringify(facts.partial));
  if (facts.late !== undefined) add('late', JSON.stringify(facts.late));
  return `${lines.join('\n')}\n`;
}

function serverLines(server: TraceServer | undefined): string[] {
  const lines = Object.keys(SERVER_SCHEMA.entries).flatMap((key) => {
    const value = server?.[camelCase(key) as keyof TraceServer];
    return value === undefined ? [] : [`  ${key}: ${typeof value === 'string' ? JSON.stringify(value) : value}`];
  });
  return lines.length === 0 ? [] : ['server:', ...lines];
}

function targetLines(targets: Record<string, TraceGoodputTarget>): string[] {
  const lines = Object.entries(targets).map(([sloClass, target]) => {
    const limits = Object.entries({ ttft_ms: target.ttftUs, itl_ms: target.itlUs, e2e_ms: target.e2eUs })
      .filter(([, us]) => us !== undefined)
      .map(([key, us]) => `${key}: ${us! / 1000}`);
    return `  ${JSON.stringify(sloClass)}: { ${limits.join(', ')} }`;
  });
  return lines.length === 0 ? [] : ['goodput_slo_targets:', ...lines];
}

/** Plain words need no quotes, and headers of plain words are read without a YAML reader. */
function word(text: string): string {
  return /^[a-z]+$/.test(text) ? text : JSON.stringify(text);
}
