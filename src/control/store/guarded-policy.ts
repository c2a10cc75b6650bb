import type { ResourceRecord } from '../../store/resources/resource-record.js';
import { checkedResource } from '../resources/check-resource.js';
import type { Resource } from '../resources/resource.js';
import { CONTROL_PLANE } from './actors.js';
import type { ControlStore } from './control-store.js';
import { refOf, resourceView } from './resource-view.js';

/**
 * The label of an Endpoint whose policy was switched and is being watched: the generation that has the former policy. Whatever applies
 * the endpoint as a whole removes it, and with it the right to go back.
 */
export const SWITCHED_FROM = 'twinyard/switched-from';

const POLICY_KEYS = ['routing', 'admission', 'flow_control'] as const;

/** The keys of a spec that a switch changes. */
export type PolicyPart = Readonly<Partial<Record<(typeof POLICY_KEYS)[number], unknown>>>;

export function policyPart(spec: unknown): PolicyPart {
  const given = spec as Record<string, unknown>;
  return Object.fromEntries(POLICY_KEYS.filter((key) => given[key] !== undefined).map((key) => [key, given[key]]));
}

/**
 * An Endpoint with another policy, checked as one that is applied.
 * @param mark generation that has the former policy; null once there is no way back
 */
export function withPolicy(before: Resource, policy: PolicyPart, mark: number | null): Resource {
  const rest = Object.entries(before.spec).filter(([key]) => !(POLICY_KEYS as readonly string[]).includes(key));
  const { [SWITCHED_FROM]: _, ...others } = before.metadata.labels;
  const labels = mark === null ? others : { ...others, [SWITCHED_FROM]: String(mark) };
  const spec = { ...Object.fromEntries(rest), ...policy };
  return checkedResource({ ...before, metadata: { ...before.metadata, labels }, spec }, policyPlace);
}

export const policyPlace = (path: string) => `policy (${path})`;

/**
 * Restores the former policy of an Endpoint whose switch nothing watches any more. What else has changed in it since stays.
 */
export async function restorePolicy(store: ControlStore, record: ResourceRecord): Promise<void> {
  const former = await formerPolicy(store, record);
  const resource = withPolicy(resourceView(record), former ?? policyPart(record.spec), null);
  const wanted = { resource, placeOf: policyPlace, expected: record.resourceVersion };
  await store.apply(CONTROL_PLANE, [wanted], { isAdmin: true });
  const message =
    former === null
      ? 'the control plane stopped while a switch was watched, and the former policy is not kept any more: the new one stays'
      : 'the control plane stopped while a switch was watched: back to the former policy';
  await store.events.add({ ...refOf(resource), uid: record.uid }, 'warning', 'PolicyRestored', message);
}

async function formerPolicy(store: ControlStore, { labels, uid }: ResourceRecord): Promise<PolicyPart | null> {
  const wanted = Number(labels[SWITCHED_FROM]);
  const found = (await store.resources.revisions(uid)).find(({ generation }) => generation === wanted);
  return found === undefined ? null : policyPart(found.spec);
}
