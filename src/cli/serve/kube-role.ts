import { discoveryRole } from '../../kube/discovery/discovery-role.js';
import { summaryOf } from '../commands.js';
import { badValue, missingFlag } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import type { Flag } from '../flags/flag.js';
import { stringFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { serveFleetFlags } from './serve-flags.js';

const NAMES = { role: 'twinyard-discovery', account: 'twinyard', namespace: 'default' };
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

const named = (defaultText: string, help: string): Flag<string | null> => ({
  ...stringFlag({ default: null, placeholder: 'name', defaultText, help }),
  read(given, place) {
    if (NAME.test(given)) return given;
    throw badValue(place, given, 'is not a name in Kubernetes', 'a-z, 0-9, - and .');
  },
});

const kubeRoleFlags = {
  kube: serveFleetFlags.kube,
  name: named(NAMES.role, 'name of the Role and of its binding'),
  'service-account': named(NAMES.account, 'service account that the gateway runs with'),
  namespace: named(NAMES.namespace, 'namespace of that service account'),
};

export const KUBE_ROLE: CommandLine = {
  name: 'kube-role',
  summary: summaryOf('kube-role'),
  about:
    "Print the Role that 'serve --kube' needs for a target, and its binding, as YAML: the verbs are those of the calls that it " +
    'makes, and nothing more.',
  groups: [{ title: 'Role', flags: kubeRoleFlags }],
  examples: [
    'kube-role --kube selector=app=vllm,namespace=prod',
    'kube-role --kube pool=chat --service-account gateway --namespace prod',
  ],
};

export async function kubeRole(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<typeof kubeRoleFlags>(KUBE_ROLE, argv);
  if (values.kube === null) throw missingFlag('--kube', 'is required', 'give the target that serve is started with');
  const { role, account, namespace } = NAMES;
  const [name, bound] = [values.name ?? role, values['service-account'] ?? account];
  io.stdout.write(discoveryRole(values.kube, name, bound, values.namespace ?? namespace));
  return 0;
}
