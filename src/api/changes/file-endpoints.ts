import { API_VERSION, DEFAULT_WORKSPACE, type Resource } from '../../control/resources/resource.js';
import { policyKeys } from '../../gateway/config/policy-keys.js';
import type { Endpoint } from '../../gateway/fleet/endpoint/endpoint.js';
import type { ApiHost } from '../api-host.js';
import { endpointOfFile } from '../errors.js';
import { modelsOf } from '../gateway/live-endpoints.js';

/** The label of endpoints that the gateway's configuration file defines. */
const SOURCE = { 'twinyard/source': 'file' };

interface Wanted {
  readonly kind?: string;
  readonly workspace?: string;
  readonly name?: string;
}

/** The endpoints of the gateway's configuration file as resources of the workspace `default`. They are changed in the file only. */
export function fileEndpointsIn(host: ApiHost, { kind, name, workspace }: Wanted): Resource[] {
  const gateway = host.servedGateway;
  if (gateway === null || kind !== 'Endpoint' || (workspace ?? DEFAULT_WORKSPACE) !== DEFAULT_WORKSPACE) return [];
  const ofFile = ({ managed }: Endpoint) => managed === null;
  if (name === undefined) return [...gateway.endpoints.values()].filter(ofFile).map(resourceOf);
  const named = gateway.endpoints.get(name);
  return named !== undefined && ofFile(named) ? [resourceOf(named)] : [];
}

/** Throws `API_FILE_ENDPOINT` for a change of such an endpoint. */
export function refuseFileEndpoint(host: ApiHost, wanted: Required<Wanted>): void {
  if (fileEndpointsIn(host, wanted).length > 0) throw endpointOfFile(wanted.name);
}

function resourceOf(endpoint: Endpoint): Resource {
  const { name, policy, replicas } = endpoint;
  const { admission, flow_control, routing } = policyKeys(policy);
  const ready = replicas.filter(({ state }) => state === 'ready').length;
  return {
    apiVersion: API_VERSION,
    kind: 'Endpoint',
    metadata: { name, workspace: DEFAULT_WORKSPACE, labels: SOURCE },
    spec: {
      engine: { name: replicas[0]?.engine ?? '' },
      model: { name: modelsOf(endpoint)[0] ?? '' },
      replicas: replicas.length,
      routing,
      admission,
      ...(flow_control === undefined ? {} : { flow_control }),
    },
    status: {
      phase: ready === 0 ? 'Failed' : ready < replicas.length ? 'Degraded' : 'Running',
      message: replicas.find(({ state }) => state !== 'ready')?.problem ?? '',
      observed_generation: 0,
      conditions: [],
      ready,
      replicas: replicas.map(({ id, problem, state, url }) => ({
        ...{ id, phase: state, generation: 0, url, restarts: 0 },
        message: problem,
      })),
    },
  };
}
