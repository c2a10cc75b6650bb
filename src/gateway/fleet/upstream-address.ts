import type { ReplicaConfig } from '../config/gateway-config.js';
import type { ExternalConfig } from './managed-routes.js';

/** An upstream's address in the parts it is asked by. Its path takes the place of `/v1`; an address without one has `/v1`. */
export function upstreamAddress(address: string): Pick<ReplicaConfig, 'url'> & Pick<ExternalConfig, 'prefix'> {
  const { origin, pathname } = new URL(address);
  const prefix = pathname.replace(/\/+$/, '');
  return { url: origin, prefix: prefix === '' ? '/v1' : prefix };
}
