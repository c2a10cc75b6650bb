/** A metric with all its labels, for the exposition and its documentation. */
export interface MetricFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
  readonly group: MetricGroup;
}

export const METRIC_GROUPS = [
  'Requests',
  'Replicas',
  'Flow control',
  'Prediction',
  'Keys and limits',
  'Files and traces',
  'Process',
] as const;
export type MetricGroup = (typeof METRIC_GROUPS)[number];

const familyOf =
  (type: MetricFamily['type']) =>
  (group: MetricGroup, name: string, labels: readonly string[], help: string): MetricFamily => ({
    // Process metrics have the conventional names.
    name: name.startsWith('process_') ? name : `twinyard_${name}`,
    type,
    labels,
    help,
    group,
  });

const counter = familyOf('counter');
const gauge = familyOf('gauge');
const histogram = familyOf('histogram');

/** Every family there is. */
export const FAMILIES = {
  requests: counter(
    'Requests',
    'requests_total',
    ['endpoint', 'model', 'outcome', 'status'],
    'Requests that reached an endpoint, by how they ended and the class of their status.',
  ),
  refused: counter('Requests', 'refused_total', ['status'], 'Requests refused before they reached an endpoint.'),
  inFlight: gauge('Requests', 'in_flight', [], 'Requests under way.'),
  endpointInFlight: gauge('Requests', 'endpoint_in_flight', ['endpoint'], 'Requests placed on replicas.'),
  firstToken: histogram(
    'Requests',
    'time_to_first_token_seconds',
    ['endpoint'],
    'From the arrival of a streamed request to the first piece of its response.',
  ),
  gap: histogram('Requests', 'inter_token_latency_seconds', ['endpoint'], 'Between two pieces of a streamed response.'),
  duration: histogram(
    'Requests',
    'request_duration_seconds',
    ['endpoint'],
    'From the arrival of a request to the end of its response, for those that succeeded.',
  ),
  queueTime: histogram(
    'Requests',
    'queue_time_seconds',
    ['endpoint'],
    'What a request waited in the queue, whether it was let out or not.',
  ),
  inputTokens: counter('Requests', 'input_tokens_total', ['endpoint', 'model'], 'Tokens of prompts.'),
  cachedTokens: counter(
    'Requests',
    'cached_tokens_total',
    ['endpoint', 'model'],
    'Tokens of prompts that engines found in their caches.',
  ),
  outputTokens: counter('Requests', 'output_tokens_total', ['endpoint', 'model'], 'Tokens of responses.'),
  reasoningTokens: counter(
    'Requests',
    'reasoning_tokens_total',
    ['endpoint', 'model'],
    'Tokens of responses that were spent on reasoning.',
  ),
  unmetered: counter(
    'Requests',
    'unmetered_total',
    ['endpoint', 'model'],
    'Requests whose tokens the engine did not count: they are estimates.',
  ),
  speechCharacters: counter(
    'Requests',
    'speech_characters_total',
    ['endpoint', 'model'],
    'Characters that were turned into speech.',
  ),
  audioSeconds: counter(
    'Requests',
    'audio_seconds_total',
    ['endpoint', 'model'],
    'Seconds of audio that was transcribed or translated.',
  ),
  decisions: counter('Requests', 'decisions_total', ['endpoint', 'policy'], 'Replicas chosen, by policy.'),
  policyInfo: gauge('Requests', 'policy_info', ['endpoint', 'policy', 'hash'], '1 for the policy that decides now.'),
  discoveryUp: gauge(
    'Requests',
    'discovery_up',
    ['endpoint'],
    '1 while the replicas of an endpoint are followed in their cluster, 0 while those known may be out of date.',
  ),
  retries: counter('Requests', 'retries_total', [], 'Tries on another replica.'),
  faults: counter('Requests', 'faults_total', [], 'Things that should not happen.'),

  replicaInFlight: gauge('Replicas', 'replica_in_flight', ['replica'], 'Requests under way by replica.'),
  replicaRequests: counter(
    'Replicas',
    'replica_requests_total',
    ['replica'],
    'Requests sent to a replica, tries on another replica included.',
  ),
  replicaBooked: gauge(
    'Replicas',
    'replica_booked',
    ['replica'],
    'Requests under way by replica, as the policy counts them.',
  ),
  replicaReady: gauge('Replicas', 'replica_ready', ['replica'], '1 for a replica that takes requests.'),
  breakerOpen: gauge('Replicas', 'replica_breaker_open', ['replica'], '1 for a replica kept away from.'),
  breakerOpens: counter(
    'Replicas',
    'replica_breaker_opens_total',
    ['replica'],
    'Times that requests began to be kept away from a replica.',
  ),
  suspect: gauge(
    'Replicas',
    'replica_suspect',
    ['replica'],
    '1 for a replica that takes requests and gives nothing back: others get its requests, and single requests probe it.',
  ),
  firstByteTimeouts: counter(
    'Replicas',
    'replica_first_byte_timeouts_total',
    ['replica'],
    'Requests that left a replica because their first byte did not come in the expected time.',
  ),
  signalsAge: gauge('Replicas', 'replica_signals_age_seconds', ['replica'], 'How long ago a replica said how it is.'),
  scrapesFailed: counter('Replicas', 'scrapes_failed_total', ['replica'], 'Metrics that could not be read.'),
  signalsMissing: counter(
    'Replicas',
    'signals_missing_total',
    ['replica', 'signal'],
    'Signals an engine should give and did not.',
  ),

  queued: gauge('Flow control', 'queued', ['endpoint'], 'Requests that wait in front of an endpoint.'),
  admitted: counter('Flow control', 'admitted_total', ['endpoint'], 'Requests that the admission policy let in.'),
  admissionRefused: counter(
    'Flow control',
    'admission_refused_total',
    ['endpoint', 'reason'],
    'Requests that the admission policy refused.',
  ),
  queueRefused: counter(
    'Flow control',
    'queue_refused_total',
    ['endpoint', 'reason'],
    'Requests that found no place in the queue, or left it without a replica.',
  ),

  predictionError: gauge(
    'Prediction',
    'prediction_error',
    ['endpoint', 'engine', 'metric', 'stat'],
    'How far the latency profile was off for the latest requests (metric ttft, itl or e2e): the mean, p50 and p90 of |predicted / measured - 1|, and the bias, predicted / measured - 1 on average.',
  ),
  predictionsCompared: counter(
    'Prediction',
    'predictions_total',
    ['endpoint', 'engine'],
    'Requests whose latencies were predicted and compared with what they took.',
  ),
  profileAge: gauge(
    'Prediction',
    'profile_age_seconds',
    ['endpoint', 'engine'],
    'How long ago the latency profile was fitted, or given by an operator.',
  ),
  profileScore: gauge(
    'Prediction',
    'profile_score',
    ['endpoint', 'engine', 'metric'],
    'Error of the latency profile on requests newer than those it was fitted to, as a share.',
  ),
  profilePinned: gauge(
    'Prediction',
    'profile_pinned',
    ['endpoint', 'engine'],
    '1 for a profile that is not fitted again.',
  ),
  profileDrift: gauge(
    'Prediction',
    'profile_drift',
    ['endpoint', 'engine'],
    '1 while predictions have been at least twice as far off as usual for ten minutes.',
  ),
  profileDrifts: counter(
    'Prediction',
    'profile_drifts_total',
    ['endpoint', 'engine', 'reason'],
    'Times that predictions became worse, by the likely reason.',
  ),
  profileFits: counter(
    'Prediction',
    'profile_fits_total',
    ['endpoint', 'engine', 'result'],
    'Fits of latency profiles: kept, discarded because the present profile is better, or failed.',
  ),
  profileFitTime: counter(
    'Prediction',
    'profile_fit_seconds_total',
    [],
    'Processor time of fits: at most 5 % of one core on average.',
  ),

  limitsHit: counter('Keys and limits', 'limits_hit_total', ['limit'], 'Requests refused because of a limit.'),
  wrongKeys: counter('Keys and limits', 'wrong_keys_total', [], 'Requests with a key that is not good.'),
  accountingInfo: gauge(
    'Keys and limits',
    'accounting_info',
    ['mode'],
    '1 for the present mode of accounting for limits.',
  ),
  storeFailures: counter('Keys and limits', 'store_failures_total', [], 'Times that the store could not be asked.'),
  journalFaults: counter(
    'Keys and limits',
    'usage_journal_faults_total',
    [],
    'Usage that could not be written to the journal or folded into the store.',
  ),
  journalPending: gauge(
    'Keys and limits',
    'usage_journal_pending',
    [],
    'Requests whose usage is in the journal and not in the store yet.',
  ),
  tlsFailures: counter('Keys and limits', 'tls_failures_total', [], 'TLS handshakes that failed.'),
  connectionsDropped: counter(
    'Keys and limits',
    'connections_dropped_total',
    [],
    'Connections closed at once because there were too many.',
  ),

  decisionLogBroken: gauge(
    'Files and traces',
    'decision_log_broken',
    [],
    '1 when decisions are not recorded any more.',
  ),
  lines: counter('Files and traces', 'log_lines_total', ['log'], 'Lines written.'),
  linesDropped: counter('Files and traces', 'log_lines_dropped_total', ['log'], 'Lines that could not be written.'),
  logBroken: gauge('Files and traces', 'log_broken', ['log'], '1 for a file that cannot be written.'),
  spans: counter(
    'Files and traces',
    'spans_total',
    ['result'],
    'Spans that a collector took, refused, or that were dropped because too many waited.',
  ),

  leader: gauge('Process', 'leader', [], '1 while this process leads the control plane, 0 while it stands by.'),
  buildInfo: gauge('Process', 'build_info', ['version', 'node'], '1 for the version that runs.'),
  cpu: counter('Process', 'process_cpu_seconds_total', [], 'CPU time, user and system.'),
  residentMemory: gauge('Process', 'process_resident_memory_bytes', [], 'Memory in use.'),
  startTime: gauge('Process', 'process_start_time_seconds', [], 'When the process began, since 1970.'),
  heap: gauge('Process', 'heap_used_bytes', [], 'Memory in use by JavaScript objects.'),
  lag: histogram('Process', 'event_loop_lag_seconds', [], 'How late the event loop is, looked at ten times a second.'),
} as const;
