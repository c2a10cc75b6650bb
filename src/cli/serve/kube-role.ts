import { capacityRules, runnerRules } from '../../control/runner/kubernetes/runner-rules.js';
import { discoveryRules } from '../../kube/discovery/discovery-rules.js';
import { electionRules } from '../../kube/election/lease-calls.js';
import { type RoleRule, roleManifests } from '../../kube/rights.js';
import { summaryOf } from '../commands.js';
import { badValue, missingFlag } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import type { Flag } from '../flags/flag.js';
import { stringFlag, toggle } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { serveFlags, serveFleetFlags } from './serve-flags.js';

const DEFAULTS = { prefix: 'twinyard', account: 'twinyard', namespace: 'default' };
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

const named = (placeholder: string, defaultText: string, help: string): Flag<string | null> => ({
  ...stringFlag({ default: null, placeholder, defaultText, help }),
  read(given, place) {
    if (NAME.test(given)) return given;
    throw badValue(place, given, 'is not a name in Kubernetes', 'a-z, 0-9, - and .');
  },
});

const kubeRoleFlags = {
  kube: serveFleetFlags.kube,
  runner: named('namespace', 'no runner', 'namespace in which a Cluster of type kubernetes runs replicas'),
  nodes: toggle({ help: 'with --runner: also a ClusterRole to read the size of the cluster and what of it is free' }),
  'leader-lease': serveFlags['leader-lease'],
  name: named(
    'name',
    'twinyard-discovery, twinyard-runner',
    'name of the Role and of its binding; of several their beginning',
  ),
  'service-account': named('name', DEFAULTS.account, 'service account that twinyard runs with'),
  namespace: named('name', DEFAULTS.namespace, 'namespace of that service account'),
};

export const KUBE_ROLE: CommandLine = {
  name: 'kube-role',
  summary: summaryOf('kube-role'),
  about:
    "Print the Roles that 'serve' needs in Kubernetes, and their bindings, as YAML: with --kube to follow a target, with --runner to " +
    'run replicas in a namespace, with --leader-lease to elect one of several control planes. The verbs are those of the calls that it makes, and nothing more.',
  groups: [{ title: 'Role', flags: kubeRoleFlags }],
  examples: [
    'kube-role --kube selector=app=vllm,namespace=prod',
    'kube-role --runner engines --service-account twinyard --namespace twinyard',
    'kube-role --runner engines --nodes | kubectl apply -f -',
  ],
};

interface WantedRole {
  readonly mode: 'discovery' | 'runner' | 'capacity' | 'lease';
  readonly namespace: string | null;
  readonly rules: readonly RoleRule[];
}

export async function kubeRole(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<typeof kubeRoleFlags>(KUBE_ROLE, argv);
  const { kube, 'leader-lease': lease, nodes, runner } = values;
  const account = values['service-account'] ?? DEFAULTS.account;
  const accountNamespace = values.namespace ?? DEFAULTS.namespace;
  const roles: WantedRole[] = [];
  if (kube !== null) {
    roles.push({ mode: 'discovery', namespace: kube.namespace ?? accountNamespace, rules: discoveryRules([kube.by]) });
  }
  if (runner !== null) roles.push({ mode: 'runner', namespace: runner, rules: runnerRules() });
  if (lease !== null) {
    roles.push({ mode: 'lease', namespace: lease.namespace ?? accountNamespace, rules: electionRules(lease) });
  }
  if (roles.length === 0) {
    throw missingFlag('--kube', 'is required', 'give it, --runner or --leader-lease, as serve uses them');
  }
  if (nodes && runner === null) throw missingFlag('--runner', 'is required with --nodes', 'give its namespace');
  if (nodes) roles.push({ mode: 'capacity', namespace: null, rules: capacityRules() });
  const nameOf = ({ mode }: WantedRole) =>
    values.name !== null && roles.length === 1 ? values.name : `${values.name ?? DEFAULTS.prefix}-${mode}`;
  const texts = roles.map((role) =>
    roleManifests(role.rules, { name: nameOf(role), namespace: role.namespace, account, accountNamespace }),
  );
  io.stdout.write(texts.join('---\n'));
  return 0;
}
