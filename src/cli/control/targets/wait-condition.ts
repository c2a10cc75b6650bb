import type { ResourceKind } from '../../../control/resources/kind.js';
import type { Resource } from '../../../control/resources/resource.js';
import { badChoice, badValue } from '../../errors.js';
import { readJsonPath, valueText } from '../json-path/json-path.js';

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
/** What `--for` accepts. */
export const WAIT_CONDITIONS =
  "'ready', 'delete', 'condition=Ready', a phase as in 'phase=Running', or 'jsonpath={.status.ready}=3'";

export function readWaitCondition(given: string, kind: ResourceKind, place: string): WaitCondition {
  if (given === 'deleted' || given === 'delete') return DELETED;
  if (given === 'ready') return { shown: 'ready', isMet: isIn(WELL), isLost: isFailed };
  const condition = /^condition=([^=]+)(?:=(true|false))?$/i.exec(given);
  if (condition !== null) return holds(condition[1]!, condition[2]?.toLowerCase() !== 'false');
  const path = /^jsonpath=('?\{.*\}'?|[^=]+)(?:=(.*))?$/s.exec(given);
  if (path !== null) return valueIs(path[1]!, path[2] ?? null, place);
  const phase = /^phase=(.+)$/.exec(given)?.[1];
  if (phase === undefined) throw badValue(place, given, 'cannot be waited for', WAIT_CONDITIONS);
  const known = kind.phases.find((one) => one.toLowerCase() === phase.toLowerCase());
  if (known === undefined) throw badChoice(place, phase, kind.phases);
  return { shown: known, isMet: isIn([known]), isLost: isFailed };
}

/** A condition of the status of the present generation, by its type in any case. */
function holds(type: string, wanted: boolean): WaitCondition {
  const isIt = (one: { readonly type: string }) => one.type.toLowerCase() === type.toLowerCase();
  return {
    shown: `${type}${wanted ? '' : '=false'}`,
    isMet: (now) => phaseOf(now) !== null && now!.status!.conditions.find(isIt)?.status === wanted,
    isLost: (now) => wanted && isFailed(now),
  };
}

/** A value of the resource; without one, that there is any. */
function valueIs(given: string, wanted: string | null, place: string): WaitCondition {
  const path = readJsonPath(given.replace(/^'(.*)'$/s, '$1'), place);
  const text = wanted?.replace(/^(['"])(.*)\1$/s, '$2') ?? null;
  return {
    shown: wanted === null ? `set at ${given}` : `${text} at ${given}`,
    isMet(now) {
      const found = path(now, now);
      return text === null ? found.length > 0 : found.some((one) => valueText(one) === text);
    },
    isLost: () => false,
  };
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
