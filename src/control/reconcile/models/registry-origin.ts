import { shownRef } from '../../../store/resources/resource-errors.js';
import type { ResourceRecord } from '../../../store/resources/resource-record.js';
import { openRegistry } from '../../models/registry.js';
import type { ModelRegistrySpec } from '../../resources/kinds/model-registry.js';
import type { ModelOrigin } from './model-fetches.js';

/** The connection to a ModelRegistry. */
export interface RegistryOrigin extends ModelOrigin {
  /** Without credentials. */
  readonly address: string;
}

/** @param spec with its secrets */
export function registryOrigin(
  record: ResourceRecord,
  { local_addresses, token, type, url }: ModelRegistrySpec,
): RegistryOrigin {
  const settings = {
    ...(url === undefined ? {} : { url }),
    ...(token === undefined ? {} : { token }),
    isGuarded: local_addresses !== true,
    place: shownRef(record),
  };
  return {
    edition: `${record.uid} ${record.generation}`,
    keepsRevisions: type !== 'file',
    address: `${type} ${url ?? ''}`.trim(),
    open: () => openRegistry(type, settings),
  };
}
