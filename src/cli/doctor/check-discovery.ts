import type { EndpointConfig, GatewayConfig } from '../../gateway/config/gateway-config.js';
import { counted } from '../../report/text/format-number.js';
import { discoverySource, openDiscovery } from '../serve/discover.js';
import { type Check, finding, findingOf, fine } from './check.js';

/** Looks once where endpoints find their replicas: Kubernetes, Ray Serve. */
export function checkDiscovery({ endpoints }: GatewayConfig): Promise<Check[]> {
  return Promise.all(endpoints.filter((one) => discoverySource(one) !== null).map(checkSource));
}

async function checkSource(endpoint: EndpointConfig): Promise<Check> {
  const place = `endpoint '${endpoint.name}'`;
  const hint = `correct it: see docs/${endpoint.kube === undefined ? 'ray-serve' : 'kubernetes'}.md`;
  try {
    let close = async () => {};
    const [replicas, problem] = await new Promise<readonly [number, string | null]>((resolve) => {
      ({ close } = openDiscovery(endpoint, () => (found, problem) => resolve([found.length, problem])));
    });
    await close();
    if (problem !== null) return finding('discovery', place, problem, hint);
    return fine('discovery', place, `${counted(replicas, 'replica')} in the cluster`);
  } catch (error) {
    return findingOf('discovery', place, error, hint);
  }
}
