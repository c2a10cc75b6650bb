import { any, choice, field, map, number, section, text, type Value, whole } from '../../../schema/fields.js';
import { camelKeys } from '../../../schema/names.js';
import type { TraceHeader } from '../../trace.js';

/** Versions of the format that are read; the last one is written. */
export const TRACE_VERSIONS = [2, 3] as const;

export const MODES = ['real', 'generated', 'replayed'] as const;
export const TIME_UNITS = ['microseconds', 'us'] as const;

const count = whole(0);
const ms = number(0);

export const SERVER_SCHEMA = section('Server of a trace', {
  type: field(text(), { help: 'engine' }),
  version: field(text(), { help: 'version of the engine' }),
  model: field(text(), { help: 'model as its publisher names it' }),
  hardware: field(text(), { help: 'GPU' }),
  tensor_parallel: field(whole(0), { help: 'GPUs per replica' }),
  max_num_seqs: field(whole(0), { help: 'requests of a batch' }),
  max_num_batched_tokens: field(whole(0), { help: 'tokens of a batch' }),
  block_size: field(whole(0), { help: 'tokens of a KV block' }),
  total_kv_blocks: field(whole(0), { help: 'KV blocks' }),
  gpu_memory_utilization: field(number(0), { help: 'share of GPU memory' }),
  max_model_len: field(whole(0), { help: 'longest context' }),
});

/** Every key of the YAML file of a trace. */
export const HEADER_SCHEMA = section('Trace header', {
  trace_version: field(whole(TRACE_VERSIONS[0], TRACE_VERSIONS.at(-1)), { help: 'version of the format' }),
  time_unit: field(choice(['', ...TIME_UNITS]), { help: 'unit of times' }),
  created_at: field(text(), { help: 'start of an observation' }),
  mode: field(choice(['', ...MODES]), { default: '', help: 'how the trace was made' }),
  warm_up_requests: field(count, { default: 0, help: 'requests at the start that are not measured' }),
  workload_seed: field(whole(Number.MIN_SAFE_INTEGER), { help: 'seed of a generated workload' }),
  workload_spec: field(text(), { help: 'specification of a generated workload' }),
  session_context_growth: field(text(), { help: 'how prompts of a session grow' }),
  block_tokens: field(count, { help: 'tokens of a block' }),
  server: field(SERVER_SCHEMA, { help: 'server that was observed' }),
  network: field(section('Network', { measured_rtt_ms: field(ms, { help: 'round trip' }) }), { help: 'network' }),
  max_in_flight: field(count, { default: 0, help: 'requests that the client had in flight at most; 0: any number' }),
  goodput_slo_targets: field(
    map(
      'classes',
      section('Targets', {
        ttft_ms: field(ms, { help: 'time to the first token' }),
        itl_ms: field(ms, { help: 'time between tokens' }),
        e2e_ms: field(ms, { help: 'time of the whole request' }),
      }),
    ),
    { default: {}, help: 'targets by SLO class' },
  ),
  kv_offload: field(any, { help: 'not read' }),
  observed_kv_metrics: field(any, { help: 'metrics of the server' }),
  partial: field(text(), { help: 'why the observation is incomplete' }),
  late: field(text(), { help: 'why its send times are not exact' }),
});

type HeaderKeys = Value<typeof HEADER_SCHEMA>;

/** The header of these keys. @param place the place of a key */
export function traceHeaderOf(keys: HeaderKeys, place: TraceHeader['place']): TraceHeader {
  const { block_tokens: blockTokens, workload_seed: workloadSeed } = keys;
  return {
    mode: keys.mode,
    ...(workloadSeed === undefined ? {} : { workloadSeed }),
    sessionContextGrowth: keys.session_context_growth ?? '',
    goodputTargets: goodputTargets(keys.goodput_slo_targets),
    ...(blockTokens === undefined ? {} : { blockTokens }),
    ...observation(keys),
    place,
  };
}

/** What only observed traces have. */
function observation({
  late,
  max_in_flight,
  network,
  partial,
  server,
  warm_up_requests,
}: HeaderKeys): Partial<TraceHeader> {
  return {
    ...(warm_up_requests > 0 ? { warmUpRequests: warm_up_requests } : {}),
    ...(server === undefined ? {} : { server: camelKeys(server) as NonNullable<TraceHeader['server']> }),
    ...(network?.measured_rtt_ms === undefined ? {} : { rttMs: network.measured_rtt_ms }),
    ...(max_in_flight > 0 ? { maxInFlight: max_in_flight } : {}),
    ...(partial === undefined ? {} : { partial }),
    ...(late === undefined ? {} : { late }),
  };
}

function goodputTargets(given: HeaderKeys['goodput_slo_targets']): TraceHeader['goodputTargets'] {
  const targets: TraceHeader['goodputTargets'] = {};
  for (const [sloClass, target] of Object.entries(given)) {
    targets[sloClass] = {
      ...(target.ttft_ms === undefined ? {} : { ttftUs: target.ttft_ms * 1000 }),
      ...(target.itl_ms === undefined ? {} : { itlUs: target.itl_ms * 1000 }),
      ...(target.e2e_ms === undefined ? {} : { e2eUs: target.e2e_ms * 1000 }),
    };
  }
  return targets;
}
