import type { ResourceKind } from '../../../control/resources/kind.js';
import type { Resource } from '../../../control/resources/resource.js';
import { badChoice, badValue } from '../../errors.js';

/** What is waited for. */
export interface WaitCondition {
  /** As the end of a sentence: `Running`, `deleted`. */
  readonly shown: string;
  /** @param resource null when there is none */
  isMet(resource: Resource | null): boolean;
  /** It has failed, and recovers only when the operator changes something. */
  isLost(resource: Resource): boolean;
}

/** Phases of a resource that can be used. */
const WELL = ['Ready', 'Running', 'Connected', 'Active'];
/** Kinds that are reconciled in the background. */
const SLOW = ['Cluster', 'ModelRegistry', 'Endpoint', 'ExternalEndpoint'];
const ACCEPTED = "'ready', 'deleted', or a phase as in 'phase=Running'";

export function readWaitCondition(given: string, kind: ResourceKind, place: string): WaitCondition {
  if (given === 'deleted') return DELETED;
  if (given === 'ready') return { shown: 'ready', isMet: isIn(WELL), isLost: isFailed };
  const phase = /^phase=(.+)$/.exec(given)?.[1];
  if (phase === undefined) throw badValue(place, given, 'cannot be waited for', ACCEPTED);
  const known = kind.phases.find((one) => one.toLowerCase() === phase.toLowerCase());
  if (known === undefined) throw badChoice(place, phase, kind.phases);
  return { shown: known, isMet: isIn([known]), isLost: isFailed };
}

const DELETED: WaitCondition = { shown: 'deleted', isMet: (resource) => resource === null, isLost: () => false };

/**
 * The condition to wait for after a change; null for kinds that need no reconciliation, or that wait for the operator.
 */
export function conditionAfter({ kind }: Pick<ResourceKind, 'kind'>): WaitCondition | null {
  // An endpoint with 0 replicas is paused on purpose.
  return SLOW.includes(kind) ? { shown: 'ready', isMet: isIn([...WELL, 'Paused']), isLost: isFailed } : null;
}

const isIn = (phases: readonly string[]) => (resource: Resource | null) => phases.includes(phaseOf(resource) ?? '');
const isFailed = isIn(['Failed']);

/** The status of an earlier generation does not count. */
function phaseOf(resource: Resource | null): string | null {
  if (resource === null || resource.status === undefined) return null;
  const isOfNow = resource.status.observed_generation >= (resource.metadata.generation ?? 0);
  // Deleting does not change the generation.
  return isOfNow || resource.metadata.deleted_at !== undefined ? resource.status.phase : null;
}

/** The state of a resource, for messages. */
export function stateText(resource: Resource | null): string {
  if (resource === null) return 'it does not exist';
  if (resource.status === undefined) return 'it has no status yet';
  const { message, phase } = resource.status;
  return `it is ${phase}${message === '' ? '' : `: ${message}`}`;
}
