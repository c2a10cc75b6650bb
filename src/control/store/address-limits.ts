import type { InputError } from '../../kernel/errors.js';
import { restrictedHost } from '../../protocol/http-client/address-rules.js';
import type { ResourceRecord } from '../../store/resources/resource-record.js';
import type { ExternalEndpointSpec } from '../resources/kinds/external-endpoint.js';
import type { ModelRegistrySpec } from '../resources/kinds/model-registry.js';
import { needsAdminRole } from './errors.js';
import type { OperatorChange } from './operator-limits.js';

type Spec = Readonly<Record<string, unknown>>;

const KINDS = ['ExternalEndpoint', 'ModelRegistry'];

/**
 * The spec with the permission to reach loopback, link-local and metadata addresses. An admin gives it by applying the resource. An
 * operator's change keeps it as long as no address is added; connections are checked without it.
 */
export function withAddressRights(kind: string, spec: Spec, before: ResourceRecord | null, isAdmin: boolean): Spec {
  if (!KINDS.includes(kind)) return spec;
  const given = spec.local_addresses as boolean | undefined;
  if (isAdmin) return { ...spec, local_addresses: given ?? true };
  // One that an operator asks for without having it is refused by `addressProblems`.
  return { ...spec, local_addresses: given ?? isKept(kind, before, spec) };
}

/** What of an operator's change needs an admin: the permission itself, and addresses that need no look-up to be recognised. */
export function addressProblems({ after, before, placeOf }: OperatorChange): InputError[] {
  const { kind, spec } = after;
  if (!KINDS.includes(kind) || isKept(kind, before, spec)) return [];
  const hint = 'ask an admin to apply it, or give another address';
  if (spec.local_addresses === true) {
    return [needsAdminRole(placeOf('spec.local_addresses'), 'needs the role admin in every workspace', hint)];
  }
  return addressesOf(kind, spec).flatMap(([path, url]) => {
    const { hostname, protocol } = new URL(url);
    const what = protocol === 'file:' ? 'a folder of the machine' : restrictedHost(hostname);
    if (what === null) return [];
    return [needsAdminRole(placeOf(path), `is ${what}, which needs the role admin in every workspace`, hint)];
  });
}

function isKept(kind: string, before: ResourceRecord | null, spec: Spec): boolean {
  if (before?.spec.local_addresses !== true) return false;
  const known = new Set(addressesOf(kind, before.spec).map(([, url]) => url));
  return addressesOf(kind, spec).every(([, url]) => known.has(url));
}

function addressesOf(kind: string, spec: Spec): [path: string, url: string][] {
  if (kind === 'ModelRegistry') {
    const { url } = spec as ModelRegistrySpec;
    return url === undefined ? [] : [['spec.url', url]];
  }
  const { upstreams } = spec as ExternalEndpointSpec;
  return upstreams.map(({ url }, i) => [`spec.upstreams[${i}].url`, url]);
}
