import { constants } from 'node:os';
import { ENGINE_CONTAINER } from '../../../engines/pod/default-pod.js';
import type {
  ContainerState,
  ContainerStatus,
  Deployment,
  KubeCondition,
  ReplicaPod,
  TerminatedContainer,
} from './manifests/deployment.js';
import type { PodEvent } from './pod-warnings.js';

/** How a container ended, and where its last lines are. */
export interface ContainerEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly detail: string | null;
  /** Its log is that of the previous container of the pod. */
  readonly isPrevious: boolean;
  /** The end of its log, where the kubelet has kept it with the status. */
  readonly message: string;
  readonly at: number;
}

export const engineStatus = (pod: ReplicaPod): ContainerStatus | undefined =>
  pod.status?.containerStatuses?.find(({ name }) => name === ENGINE_CONTAINER);

export const conditionOf = (conditions: readonly KubeCondition[] | undefined, type: string) =>
  conditions?.find((one) => one.type === type);

export const isPodReady = (pod: ReplicaPod) =>
  pod.metadata.deletionTimestamp === undefined && conditionOf(pod.status?.conditions, 'Ready')?.status === 'True';

/**
 * Whether a pod was made for the Deployment of this name, by its ReplicaSet, which has the name and a hash. Labels are not enough: a
 * copy of a Deployment has them too.
 */
export const isPodOf = ({ metadata: { ownerReferences = [] } }: ReplicaPod, deployment: string): boolean =>
  ownerReferences.some(({ kind, name }) => kind === 'ReplicaSet' && name.replace(/-[^-]+$/, '') === deployment);

/** Whether the container runs or has run: it has a log. */
export function hasLog(pod: ReplicaPod): boolean {
  const { restartCount = 0, state } = engineStatus(pod) ?? {};
  return state?.running !== undefined || state?.terminated !== undefined || restartCount > 0;
}

/**
 * How the engine of a pod has ended; null while it runs or has not begun. A container that was started again has ended before.
 * @param restarts those that were known before
 */
export function containerEnd(pod: ReplicaPod, restarts: number): ContainerEnd | null {
  const status = engineStatus(pod);
  if (status?.state?.terminated !== undefined) return endOf(status.state.terminated, false);
  const last = status?.lastState?.terminated;
  if (status !== undefined && last !== undefined && (status.restartCount ?? 0) > restarts) return endOf(last, true);
  if (pod.status?.phase !== 'Failed') return null;
  const { message = '', reason = 'Failed' } = pod.status;
  return { code: null, signal: null, detail: reason, isPrevious: false, message, at: Date.now() };
}

function endOf(end: TerminatedContainer, isPrevious: boolean): ContainerEnd {
  // As shells do: a signal is 128 and its number.
  const number = end.signal || (end.exitCode > 128 ? end.exitCode - 128 : 0);
  const signal = Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null;
  const at = Date.parse(end.finishedAt ?? '');
  const isTold = end.reason !== undefined && end.reason !== 'Error' && end.reason !== 'Completed';
  return {
    code: signal === null ? end.exitCode : null,
    signal,
    detail: isTold ? end.reason! : null,
    isPrevious,
    message: end.message ?? '',
    at: Number.isNaN(at) ? Date.now() : at,
  };
}

/**
 * What keeps a replica from becoming ready, in the words of Kubernetes; null without a known reason.
 * @param warningOf the last event about a pod, by its UID
 */
export function replicaProblem(
  deployment: Deployment | null,
  pod: ReplicaPod | null,
  warningOf: (uid: string) => PodEvent | null,
): string | null {
  if (pod === null) {
    // A quota, an admission webhook or a missing service account: the pod could not be created.
    const failure = conditionOf(deployment?.status?.conditions, 'ReplicaFailure');
    return failure?.status === 'True' ? sentence(failure.reason, failure.message) : null;
  }
  const scheduled = conditionOf(pod.status?.conditions, 'PodScheduled');
  if (scheduled?.status === 'False' && pod.spec.nodeName === undefined)
    return sentence(scheduled.reason, scheduled.message);
  const state = engineStatus(pod)?.state;
  // Of a running engine they are probes that fail while it loads its model.
  if (state?.running !== undefined) return null;
  return initProblem(pod) ?? waitingProblem(state?.waiting) ?? eventProblem(pod, warningOf(pod.metadata.uid ?? ''));
}

/** That there is no node is history once there is one; it is called as in the status of the pod, which comes later. */
function eventProblem({ spec }: ReplicaPod, warning: PodEvent | null): string | null {
  if (warning === null) return null;
  const isForNode = warning.reason === 'FailedScheduling';
  if (isForNode && spec.nodeName !== undefined) return null;
  return sentence(isForNode ? 'Unschedulable' : warning.reason, warning.message);
}

/** When a pod got its node; 0 when unknown. */
export function scheduledAt({ status }: ReplicaPod): number {
  const at = Date.parse(conditionOf(status?.conditions, 'PodScheduled')?.lastTransitionTime ?? '');
  return Number.isNaN(at) ? 0 : at;
}

function waitingProblem(waiting: ContainerState['waiting']): string | null {
  // These two are no problem: every pod begins with them.
  const isUsual = waiting?.reason === 'ContainerCreating' || waiting?.reason === 'PodInitializing';
  return waiting === undefined || isUsual ? null : sentence(waiting.reason, waiting.message);
}

/** Of the containers that run before the engine, as a download of its model. Kubernetes starts them again until they succeed. */
function initProblem({ status }: ReplicaPod): string | null {
  for (const { lastState, name, state } of status?.initContainerStatuses ?? []) {
    const waiting = waitingProblem(state?.waiting);
    const ended = state?.terminated ?? (state?.running === undefined ? lastState?.terminated : undefined);
    const failed = ended === undefined || ended.exitCode === 0 ? null : failure(ended);
    if (waiting !== null || failed !== null) {
      return sentence(`init container '${name}'`, [waiting, failed].filter(Boolean).join('; '));
    }
  }
  return null;
}

const failure = ({ exitCode, message = '', reason }: TerminatedContainer) =>
  `${reason === undefined || reason === 'Error' ? '' : `${reason}, `}exit code ${exitCode}${message && ` (${message.trim()})`}`;

const MOST_LENGTH = 1000;

const sentence = (reason = 'Unknown', message = '') =>
  (message === '' ? reason : `${reason}: ${message}`).slice(0, MOST_LENGTH);

/** The address of a pod; null before it has one. */
export function podUrl(pod: ReplicaPod, port: number): string | null {
  const ip = pod.status?.podIP;
  if (!ip) return null;
  return `http://${ip.includes(':') ? `[${ip}]` : ip}:${port}`;
}

/** Why a pod has gone, as Kubernetes gives it: an eviction, a preemption, a lost node. */
export function goneDetail({ status }: ReplicaPod): string {
  const { message, reason } = conditionOf(status?.conditions, 'DisruptionTarget') ?? {};
  return reason === undefined ? 'its pod was deleted' : `${reason}${message ? `: ${message}` : ''}`;
}
