import { checkedResource } from '../../control/resources/check-resource.js';
import { API_VERSION } from '../../control/resources/resource.js';
import { ControlStore } from '../../control/store/control-store.js';
import { refOf } from '../../control/store/resource-view.js';
import { API_KEY } from '../../store/keys/key-record.js';
import type { Store } from '../../store/open-store.js';

const ACTOR = 'demo';

/** API keys as an installation has them: for people, for jobs, and for one that its limit refuses now and then. */
const KEYS = {
  web: { limits: { '*': { requests_per_minute: 600, dollars_per_day: 5 } } },
  batch: { max_slo_class: 'batch', limits: { '*': { concurrent: 8, tokens_per_day: 20_000_000 } } },
  trial: { limits: { '*': { requests_per_minute: 60 } } },
} as const;

/** Creates the API keys of the demo and returns their secrets, which nothing prints. */
export async function createDemoKeys(store: Store): Promise<string[]> {
  const control = new ControlStore(store);
  const placeOf = (path: string) => `demo (${path})`;
  const resources = Object.entries(KEYS).map(([name, spec]) =>
    checkedResource({ apiVersion: API_VERSION, kind: API_KEY, metadata: { name }, spec }, placeOf),
  );
  await control.apply(
    ACTOR,
    resources.map((resource) => ({ resource, placeOf })),
  );
  const secrets: string[] = [];
  for (const resource of resources) secrets.push((await store.keys.issue(refOf(resource), null, ACTOR)).secret);
  return secrets;
}
