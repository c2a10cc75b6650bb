import type { ResourceKind } from '../../../control/resources/kind.js';
import type { Resource } from '../../../control/resources/resource.js';
import { badChoice, badValue } from '../../errors.js';

/** What is waited for. */
export interface WaitCondition {
  /** As the end of a sentence: `Running`, `gone`. */
  readonly shown: string;
  /** @param resource null when there is none */
  isMet(resource: Resource | null): boolean;
  /** It has failed, and recovers only when the operator changes something. */
  isLost(resource: Resource): boolean;
}

/** Phases in which a resource is as it was asked to be, and of use. */
const WELL = ['Ready', 'Running', 'Connected', 'Active'];
/** Kinds that take a while to be as they were asked to be. */
const SLOW = ['Cluster', 'ModelRegistry', 'Endpoint', 'ExternalEndpoint'];
const ACCEPTED = "'ready', 'deleted', or a phase as in 'phase=Running'";

export function readWaitCondition(given: string, kind: ResourceKind, place: string): WaitCondition {
  if (given === 'deleted') return GONE;
  if (given === 'ready') return { shown: 'ready', isMet: isIn(WELL), isLost: isFailed };
  const phase = /^phase=(.+)$/.exec(given)?.[1];
  if (phase === undefined) throw badValue(place, given, 'cannot be waited for', ACCEPTED);
  const known = kind.phases.find((one) => one.toLowerCase() === phase.toLowerCase());
  if (known === undefined) throw badChoice(place, phase, kind.phases);
  return { shown: known, isMet: isIn([known]), isLost: isFailed };
}

const GONE: WaitCondition = { shown: 'gone', isMet: (resource) => resource === null, isLost: () => false };

/**
 * The condition to wait for after a change; null for kinds that need no reconciliation, or that wait for the operator.
 */
export function wishAfter({ kind }: Pick<ResourceKind, 'kind'>): WaitCondition | null {
  // One that was asked to have no replicas is as it should be.
  return SLOW.includes(kind) ? { shown: 'ready', isMet: isIn([...WELL, 'Paused']), isLost: isFailed } : null;
}

const isIn = (phases: readonly string[]) => (resource: Resource | null) => phases.includes(phaseOf(resource) ?? '');
const isFailed = isIn(['Failed']);

/** What was said of an older edition of it does not count: it has been changed since. */
function phaseOf(resource: Resource | null): string | null {
  if (resource === null || resource.status === undefined) return null;
  const isOfNow = resource.status.observed_generation >= (resource.metadata.generation ?? 0);
  // Deleting is no edition.
  return isOfNow || resource.metadata.deleted_at !== undefined ? resource.status.phase : null;
}

/** How a resource is, in a few words. */
export function stateText(resource: Resource | null): string {
  if (resource === null) return 'it is not there';
  if (resource.status === undefined) return 'nothing is known of it yet';
  const { message, phase } = resource.status;
  return `it is ${phase}${message === '' ? '' : `: ${message}`}`;
}
