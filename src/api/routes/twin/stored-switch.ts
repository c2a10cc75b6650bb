import { setTimeout as delay } from 'node:timers/promises';
import { endpoint as endpointKind, endpointPolicy } from '../../../control/resources/kinds/endpoint.js';
import type { Resource } from '../../../control/resources/resource.js';
import {
  type PolicyPart,
  policyPart,
  policyPlace,
  SWITCHED_FROM,
  withPolicy,
} from '../../../control/store/guarded-policy.js';
import { policyHashOf } from '../../../gateway/fleet/endpoint/deciding.js';
import { managedName } from '../../../gateway/fleet/endpoint-directory.js';
import { canonicalJson } from '../../../kernel/text/canonical-json.js';
import { ROUTING_SCHEMA } from '../../../policy/bundle/policy-schema.js';
import { isStoreFailure } from '../../../store/database/errors.js';
import { unknownResource } from '../../../store/resources/resource-errors.js';
import type { ApiHost } from '../../api-host.js';
import type { ApiRequest } from '../../api-route.js';
import { changeResource, refIn } from '../../changes/change-resource.js';
import { badBody, notInForce, policyInForce } from '../../errors.js';
import { liveEndpoint } from '../../gateway/live-endpoints.js';
import type { SwitchTarget } from '../../jobs/guarded-switch.js';
import { versionOf } from '../../request-parts.js';

type Request = Pick<ApiRequest, 'caller' | 'params' | 'header'>;

/** Reconciliation takes milliseconds; later something keeps it from happening. */
const IN_FORCE_MS = 30_000;
const LOOK_MS = 20;
/** A store that is away for a moment must not leave a policy that is worse. */
const TRIES = 10;

/**
 * The policy of an Endpoint in the store. It is replaced as a patch would replace it: a new revision, checked and audited, that every
 * gateway of the store follows. A label says that it is watched until the watch is over.
 */
export class StoredSwitch implements SwitchTarget {
  readonly endpoint: string;
  readonly #host: ApiHost;
  readonly #request: Request;
  readonly #policy: PolicyPart;
  /** Null while there is nothing to restore. */
  #applied: { readonly uid: string; readonly mark: string; readonly own: string; readonly former: PolicyPart } | null =
    null;

  private constructor(host: ApiHost, request: Request, policy: PolicyPart) {
    const { name, workspace } = request.params;
    this.endpoint = managedName(workspace!, name!);
    this.#host = host;
    this.#request = request;
    this.#policy = policy;
  }

  /** Throws where no control plane accepts changes here, or there is no such Endpoint. @param given a whole policy, or keys of its routing */
  static async open(host: ApiHost, request: Request, given: Readonly<Record<string, unknown>>): Promise<StoredSwitch> {
    const { store } = await host.control();
    const ref = refIn(endpointKind, request);
    const present = await store.get(ref);
    if (present === null) throw unknownResource(ref);
    await checkVersion(host, request, present);
    return new StoredSwitch(host, request, newPolicy(given, present));
  }

  async apply(signal: AbortSignal): Promise<void> {
    let former: PolicyPart = {};
    const after = await this.#change(this.#request.header, (before) => {
      former = policyPart(before.spec);
      const next = withPolicy(before, this.#policy, before.metadata.generation!);
      if (hashOf(next.spec) === hashOf(before.spec)) throw policyInForce(this.endpoint);
      return next;
    });
    if (after === null) throw unknownResource(refIn(endpointKind, this.#request));
    const { labels, uid } = after.metadata;
    this.#applied = { uid: uid!, mark: labels[SWITCHED_FROM]!, own: ownText(after), former };
    await this.#inForce(after.spec, signal);
  }

  async isOwn(): Promise<boolean> {
    try {
      const { store } = await this.#host.control();
      return this.#isOwn(await store.get(refIn(endpointKind, this.#request)));
    } catch (error) {
      if (isStoreFailure(error)) return true;
      throw error;
    }
  }

  async keep(): Promise<void> {
    await this.#end((before) => withPolicy(before, policyPart(before.spec), null));
  }

  async restore(): Promise<boolean> {
    if (this.#applied === null) return false;
    const { former } = this.#applied;
    const after = await this.#end((before) => withPolicy(before, former, null));
    if (after !== null) await this.#inForce(after.spec, new AbortController().signal);
    return after !== null;
  }

  /** Null when another change came first. */
  async #end(next: (before: Resource) => Resource): Promise<Resource | null> {
    for (let tries = 1; ; tries++) {
      try {
        const after = await this.#change(
          () => undefined,
          (before) => (this.#isOwn(before) ? next(before) : null),
        );
        this.#applied = null;
        return after;
      } catch (error) {
        if (!isStoreFailure(error) || tries === TRIES) throw error;
        await delay(100 * tries);
      }
    }
  }

  /** @param next null to leave it as it is */
  async #change(header: Request['header'], next: (before: Resource) => Resource | null): Promise<Resource | null> {
    const { caller, params } = this.#request;
    const request = { caller, params, header, query: { dry_run: false } } as unknown as ApiRequest<{
      dry_run: boolean;
    }>;
    try {
      return await changeResource(this.#host, endpointKind, request, (before) => {
        const resource = next(before);
        if (resource === null) throw new Superseded();
        return { resource, placeOf: policyPlace };
      });
    } catch (error) {
      // Nothing to restore in an Endpoint that was deleted.
      if (error instanceof Superseded || (error as { code?: string }).code === 'RESOURCE_UNKNOWN') return null;
      throw error;
    }
  }

  #isOwn(present: Resource | null): boolean {
    if (present === null || this.#applied === null) return false;
    const { deleted_at, labels, uid } = present.metadata;
    const { mark, own, uid: ours } = this.#applied;
    return uid === ours && deleted_at === undefined && labels[SWITCHED_FROM] === mark && ownText(present) === own;
  }

  /** Resolves when the gateway decides by this policy. */
  async #inForce(spec: object, signal: AbortSignal): Promise<void> {
    const wanted = hashOf(spec);
    const { name, workspace } = this.#request.params;
    const startMs = Date.now();
    while (liveEndpoint(this.#host.gateway, { workspace: workspace!, name: name! }).policyHash !== wanted) {
      if (Date.now() - startMs > IN_FORCE_MS) throw notInForce(this.endpoint, IN_FORCE_MS / 1000);
      await delay(LOOK_MS, undefined, { signal });
    }
  }
}

/** Throws a conflict at once where the switch was made for another version: the job checks it again when it applies the policy. */
async function checkVersion(host: ApiHost, request: Request, present: Resource): Promise<void> {
  if (versionOf(request.header('if-match')) === undefined) return;
  const dry = { ...request, query: { dry_run: true } } as unknown as ApiRequest<{ dry_run: boolean }>;
  await changeResource(host, endpointKind, dry, () => ({ resource: present, placeOf: policyPlace }));
}

/** Ends a change that has been overtaken. */
class Superseded extends Error {}

const hashOf = (spec: object) => policyHashOf(endpointPolicy(spec, policyPlace));

const ownText = ({ spec }: Resource) => canonicalJson(policyPart(spec));

/** What the body makes of the policy; keys of the routing alone keep the rest. */
function newPolicy(given: Readonly<Record<string, unknown>>, present: Resource): PolicyPart {
  const isShort = Object.keys(given).some((key) => Object.hasOwn(ROUTING_SCHEMA.entries, key));
  if (isShort) return { ...policyPart(present.spec), routing: given };
  const policy = policyPart(given);
  const other = Object.keys(given).find((key) => !(key in policy));
  if (other !== undefined)
    throw badBody(`policy.${other}`, 'is not switched with a guard', 'change it in the spec of the Endpoint');
  return policy;
}
