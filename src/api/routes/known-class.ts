import type { WrittenResource } from '../../control/resources/read-resources.js';
import { knownClasses } from '../../gateway/access/known-classes.js';
import { unknownClass } from '../../store/keys/errors.js';
import { API_KEY } from '../../store/keys/key-record.js';
import type { KeySpec } from '../../store/keys/key-schema.js';
import type { ApiHost } from '../api-host.js';

/** Refuses ApiKeys whose `max_slo_class` is neither built in nor defined by a policy that is known here. */
export async function refuseUnknownClass(host: ApiHost, written: readonly WrittenResource[]): Promise<void> {
  for (const { placeOf, resource } of written) {
    if (resource.kind !== API_KEY) continue;
    const { max_slo_class: given } = resource.spec as KeySpec;
    if (given === undefined) continue;
    const known = [...(await knownClasses(host.servedGateway?.endpoints.values() ?? [], host.store)), ...host.classes];
    if (!known.includes(given)) throw unknownClass(placeOf('spec.max_slo_class'), given, known);
  }
}
