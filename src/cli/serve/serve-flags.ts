import { DEFAULT_ENGINE } from '../../engines/engine.js';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS } from '../../gateway/config/gateway-config.js';
import { type KubeTarget, readKubeTarget } from '../../kube/discovery/kube-target.js';
import { type LeaseTarget, readLeaseTarget } from '../../kube/election/lease-name.js';
import { type RayServeTarget, readServeTarget } from '../../ray/serve/serve-target.js';
import { decideFlags } from '../decide/decide-flags.js';
import { badValue } from '../errors.js';
import type { Flag } from '../flags/flag.js';
import { count, file, MAX_INT32, numberFlag, registered, stringFlag, toggle } from '../flags/kinds.js';
import { engineNames, routingPolicyNames } from '../flags/registered-names.js';

const URL_ACCEPTED = 'a URL such as http://127.0.0.1:9001';

/** Scheme, host and port of a replica; a path after them would be ignored. */
function readUrls(given: string, place: string): string[] {
  return given.split('\n').map((one) => {
    let url: URL;
    try {
      url = new URL(one);
    } catch {
      throw badValue(place, one, 'is not a URL', URL_ACCEPTED);
    }
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      throw badValue(place, one, 'is not an address of a web server', URL_ACCEPTED);
    }
    if (url.pathname !== '/' || url.search !== '') throw badValue(place, one, 'has a path', URL_ACCEPTED);
    return url.origin;
  });
}

const replica: Flag<readonly string[]> = {
  ...stringFlag({
    default: null,
    placeholder: 'url',
    help: 'address of a replica, repeated for each; without it, replicas come from resources',
  }),
  accepted: URL_ACCEPTED,
  default: [],
  repeats: true,
  read: readUrls,
};

const { listen, admin } = GATEWAY_DEFAULTS;
const port = { min: 0, max: 65_535 };

const kube: Flag<KubeTarget | null> = {
  ...stringFlag({
    default: null,
    placeholder: 'target',
    help: 'find replicas in a Kubernetes cluster: selector=app=NAME, service=NAME or pool=NAME, then namespace=, port=, kubeconfig=, context=',
  }),
  accepted: 'a target such as selector=app=vllm,namespace=prod',
  default: null,
  read: (given) => readKubeTarget(given),
};

const rayServe: Flag<RayServeTarget | null> = {
  ...stringFlag({
    default: null,
    placeholder: 'target',
    help: 'find replicas of Ray Serve: the URL of a Ray dashboard, then app=, token_file=, ca_file=',
  }),
  accepted: 'a target such as http://10.0.0.1:8265,app=chat',
  default: null,
  read: (given) => readServeTarget(given),
};

const leaderLease: Flag<LeaseTarget | null> = {
  ...stringFlag({
    default: null,
    placeholder: 'namespace/name',
    defaultText: 'the store decides',
    help: 'Kubernetes Lease that elects the control plane among those of a store; then kubeconfig=, context=',
  }),
  accepted: 'a Lease such as prod/twinyard',
  default: null,
  read: readLeaseTarget,
};

/** The replicas of the gateway and the policies for their requests. */
export const serveFleetFlags = {
  replica,
  kube,
  'ray-serve': rayServe,
  config: {
    ...file({ help: 'twinyard.yaml: endpoints, policies, limits and more; read again on SIGHUP' }),
    letter: 'c',
  },
  engine: registered({ default: DEFAULT_ENGINE, names: engineNames, help: 'what the replicas run' }),
  'routing-policy': registered({
    default: DEFAULT_POLICY.name,
    names: routingPolicyNames,
    help: 'how a replica is chosen',
  }),
  'policy-options': decideFlags['policy-options'],
  'policy-config': file({
    help: "policy file, as run reads it and 'twinyard tune' writes it; in place of the policy flags",
  }),
  'block-size': count({
    default: DEFAULT_POLICY.blockSize,
    min: 1,
    max: MAX_INT32,
    help: 'tokens per block of a prompt',
  }),
  'cache-blocks': decideFlags['cache-blocks'],
  seed: decideFlags.seed,
};

/** Where it listens and what it writes. */
export const serveFlags = {
  host: stringFlag({
    default: null,
    placeholder: 'address',
    defaultText: listen.host,
    help: 'address for clients; 0.0.0.0 for all',
  }),
  port: count({ ...port, default: listen.port, help: 'port for clients; 0 for a free one' }),
  'admin-port': count({
    ...port,
    default: admin.port,
    help: 'port for metrics and the admin API, on loopback; 0 for a free one',
  }),
  drain: numberFlag({
    default: GATEWAY_DEFAULTS.drainMs / 1000,
    min: 0,
    max: 86_400,
    placeholder: 's',
    help: 'seconds that requests get to end when it stops',
  }),
  store: stringFlag({
    default: null,
    placeholder: 'address',
    help: "keys, usage and accounts: a file, or postgres://...; clients then need a key of 'twinyard keys create'",
  }),
  'data-dir': file({
    placeholder: 'folder',
    defaultText: `beside the store, else ${GATEWAY_DEFAULTS.dataDir}`,
    help: 'what it keeps: the store where none is named, replicas, models, the key of secrets, its admin token',
  }),
  'leader-lease': leaderLease,
  'admin-url': stringFlag({
    default: null,
    placeholder: 'url',
    defaultText: 'where it listens',
    help: 'address of the admin API that a standby sends clients to, where this process leads',
  }),
  'claim-cluster': toggle({
    help: "run the replicas of cluster 'local' on this host from now on; only if the host that ran them is lost",
  }),
  'accept-secrets-key': toggle({
    help: 'start although stored secrets are encrypted with another key; they have to be applied again',
  }),
  'replica-user': stringFlag({
    default: null,
    placeholder: 'user',
    defaultText: 'the user of this process',
    help: 'user of replicas, as NAME or UID[:GID]: it can read nothing else of the data folder; needs root',
  }),
  record: file({ help: "record every request there, without any text, for 'replay' and 'compare'" }),
  'access-log': stringFlag({
    default: null,
    placeholder: 'file',
    help: 'write a line per request there; - for stderr',
  }),
  'decision-log': file({ help: "write every decision there, to be decided again by 'replay --decisions'" }),
};

export type ServeFlags = typeof serveFleetFlags & typeof serveFlags;
