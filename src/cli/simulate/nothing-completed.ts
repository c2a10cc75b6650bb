import type { ClusterMetrics } from '../../simulator/result-document.js';

type Fate = [key: keyof ClusterMetrics & string, name: string, hint: string];

/** Why requests are not completed, with a hint for each. */
const FATES: readonly Fate[] = [
  [
    'dropped_unservable',
    'dropped as longer than a replica can hold',
    'raise --total-kv-blocks or --max-model-len, or use a GPU with more memory',
  ],
  ['rejected_requests', 'rejected by admission', 'choose another --admission-policy or raise its limits'],
  ['routing_rejected', 'of a model that no replica serves', 'choose their model with --model'],
  ['timed_out_requests', 'timed out', 'raise --timeout or --num-instances'],
  ['gateway_rejected', 'rejected by the gateway queue', 'raise --max-gateway-queue-depth'],
  ['gateway_expired', 'expired in the gateway queue', 'raise --request-ttl or --num-instances'],
  ['gateway_shed', 'shed by the gateway queue', 'raise --max-gateway-queue-depth'],
  ['gateway_queued', 'left in the gateway queue', 'raise the thresholds of --saturation-detector'],
  ['not_arrived', 'due after the end', 'raise --horizon'],
  ['still_running', 'still running', 'raise --horizon'],
  ['still_queued', 'still queued', 'raise --horizon'],
];

/**
 * The warning for a run without a completed request: its latencies are all zero. Null for any other run, and with
 * the policy that rejects everything.
 */
export function nothingCompleted(cluster: ClusterMetrics, admissionPolicy: string): string | null {
  if (cluster.completed_requests > 0 || cluster.generated_requests === 0) return null;
  if (admissionPolicy === 'reject-all') return null;
  const found = FATES.filter(([key]) => (cluster[key] ?? 0) > 0).sort((a, b) => cluster[b[0]]! - cluster[a[0]]!);
  const counts = found.map(([key, name]) => `${cluster[key]} ${name}`);
  const hint = found[0] === undefined ? '' : `; ${found[0][2]}`;
  return `no request was completed: ${counts.join(', ')}${hint}`;
}
