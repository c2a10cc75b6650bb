import { resolve } from 'node:path';
import type { ControlPlane } from '../../control/control-plane.js';
import type { ReplicaUser } from '../../control/runner/contract.js';
import { GATEWAY_DEFAULTS } from '../../gateway/config/gateway-config.js';
import type { Gateway } from '../../gateway/gateway.js';
import type { InheritedSockets } from '../../gateway/server/inherited-sockets.js';
import { summaryOf } from '../commands.js';
import { faultText } from '../diagnostics.js';
import { conflictingFlags } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import type { FlagValues } from '../flags/flag.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { tuneServer } from '../tune-v8.js';
import { withBrackets } from './admin-url.js';
import { ClosingSteps } from './closing-steps.js';
import type { Discoveries } from './discover.js';
import { gatewayListenError } from './gateway-listen-error.js';
import { type ServeFlags, serveFlags, serveFleetFlags } from './serve-flags.js';

/** For what is closed beside the gateway itself. */
const CLOSING_MS = 10_000;

export const SERVE: CommandLine = {
  name: 'serve',
  summary: summaryOf('serve'),
  about:
    'Serve an OpenAI-compatible API in front of replicas, with a routing policy, API keys, limits and metrics. Without replicas ' +
    "and without a file it is a control plane: it runs the resources of 'twinyard apply' and keeps its data in " +
    `${GATEWAY_DEFAULTS.dataDir}.`,
  groups: [
    { title: 'Replicas', flags: serveFleetFlags },
    { title: 'Gateway', flags: serveFlags },
  ],
  examples: [
    'serve',
    'serve --data-dir /var/lib/twinyard',
    'serve --replica http://127.0.0.1:9001 --replica http://127.0.0.1:9002',
    'serve -c examples/twinyard.yaml',
    'serve --kube selector=app=vllm,namespace=prod --record traffic.jsonl',
    'serve --ray-serve http://10.0.0.1:8265,app=chat',
    'serve --replica http://127.0.0.1:9001 --routing-policy lmetric --port 8000 --decision-log out/decisions.jsonl',
    'serve --replica http://127.0.0.1:9001 --store twinyard.db --record traffic.jsonl',
  ],
};

/** Runs the gateway, and the control plane where there is a store, until SIGINT or SIGTERM; then lets requests finish. */
export async function serve(argv: readonly string[], io: CliIo): Promise<number> {
  const flags = await parseFlags<ServeFlags>(SERVE, argv);
  const [{ Gateway }, { gatewayConfig }, { takeInheritedSockets }] = await Promise.all([
    import('../../gateway/gateway.js'),
    import('./gateway-config.js'),
    import('../../gateway/server/inherited-sockets.js'),
  ]);
  const say = (line: string) => io.stderr.write(`twinyard: ${line}\n`);
  const sockets = takeInheritedSockets(process.env, process.pid);
  const readConfig = () => gatewayConfig(flags, (line) => say(`warning: ${line}`));
  const config = readConfig();
  const user = await replicaUserOf(flags, config);
  tuneServer();
  const gateway = new Gateway(config, readConfig);
  gateway.onWarning = (line) => say(`warning: ${line}`);
  gateway.onFault = (error) => say(`error, continuing: ${faultText(error)}`);
  const stopped = io.untilStopped();
  const discoveries = await discover(gateway, say);
  gateway.onReloaded = ({ endpoints }) => discoveries.follow(endpoints);
  let control: ControlPlane | null = null;
  try {
    control = await start(gateway, { sockets, self: io.self, replicaUser: user, say, values: flags.values });
  } catch (error) {
    await discoveries.close();
    await gateway.close(0);
    throw gatewayListenError(error, config);
  }
  const [{ startProfiles }, { startEndpointEvents }] = await Promise.all([
    import('../../twin/profiles/start-profiles.js'),
    import('../../gateway/history/endpoint-events.js'),
  ]);
  const profiles = startProfiles(gateway);
  const events = startEndpointEvents(gateway);
  for (const line of firstLines(gateway, control)) say(line);
  io.onHangUp(() => {
    try {
      const needsRestart = gateway.reloadConfig();
      const rest = needsRestart.length === 0 ? '' : `; needs a restart: ${needsRestart.join(', ')}`;
      say(`configuration reloaded${rest}`);
    } catch (error) {
      say(`configuration not reloaded: ${(error as Error).message}`);
    }
  });
  await stopped;
  say(`stopping, ${gateway.inFlight} requests in flight`);
  // First of all: what is closed below may take its time.
  const drained = gateway.drain();
  const steps = new ClosingSteps(CLOSING_MS, say);
  const left = (await steps.run('the list of replicas', async () => control?.running())) ?? 0;
  // Before the control plane: a switch that is being watched goes back.
  await steps.run('the API', async () => gateway.api?.close?.());
  await steps.run('the control plane', async () => control?.close());
  await steps.run('discovery', () => discoveries.close());
  await steps.run('endpoint events', () => events.close());
  await steps.run('latency profiles', () => profiles.close());
  steps.end();
  await drained;
  // It has been closed.
  gateway.api = null;
  await gateway.close();
  if (left > 0)
    say(`${left} replicas keep running: the next 'twinyard serve' adopts them; delete their endpoints to stop them`);
  return 0;
}

/** Follows the replicas that are in clusters, and returns when those there are at the start are known. */
async function discover(gateway: Gateway, say: (line: string) => void): Promise<Discoveries> {
  const { Discoveries } = await import('./discover.js');
  const discoveries = new Discoveries(gateway.fleet, say);
  discoveries.follow(gateway.config.endpoints);
  await discoveries.settled();
  return discoveries;
}

/** Addresses and state, and the next command where there is no endpoint yet. */
function firstLines(gateway: Gateway, control: ControlPlane | null): string[] {
  const { adminToken, adminTokenPath, adminUrl, config, url } = gateway;
  const all = gateway.replicas();
  const ready = all.filter(({ state }) => state === 'ready').length;
  const isLeader = control !== null && control.leader === null;
  const isBare = isLeader && gateway.endpoints.size === 0;
  const lines = [
    `serving on ${url}, ${isBare ? 'no endpoint yet' : `${ready} of ${all.length} replicas ready`}`,
    // Logs may have more readers than the file.
    `admin on ${adminUrl}, token ${adminTokenPath === null ? adminToken : `in ${adminTokenPath}`}`,
  ];
  if (isBare) {
    const isUsual = config.dataDir === resolve(GATEWAY_DEFAULTS.dataDir);
    const where = isUsual ? '' : ` --data-dir ${config.dataDir}`;
    lines.unshift(`to run something: twinyard apply -f examples/endpoints/emulated.yaml${where}`);
  }
  if (control !== null) lines.unshift(`${isLeader ? 'control plane' : 'standby'}, data in ${config.dataDir}`);
  return lines;
}

/** Before anything is opened: a wrong user is a mistake in the command line. */
async function replicaUserOf(
  { values }: FlagValues<ServeFlags>,
  { store }: Gateway['config'],
): Promise<ReplicaUser | null> {
  const given = values['replica-user'];
  if (given === null) return null;
  const hint = 'leave it out, or name a store as well (--store)';
  if (store === null) throw conflictingFlags('--replica-user', 'is given without a control plane', hint);
  const { replicaUser } = await import('../../control/runner/local/process/replica-user.js');
  return replicaUser(given, '--replica-user');
}

interface StartParts {
  readonly sockets: InheritedSockets;
  readonly self: readonly string[];
  readonly replicaUser: ReplicaUser | null;
  readonly say: (line: string) => void;
  readonly values: FlagValues<ServeFlags>['values'];
}

/** Starts a gateway, and a control plane if it has a store. A gateway with configured replicas also runs without one. */
async function start(
  gateway: Gateway,
  { replicaUser, say, self, sockets, values }: StartParts,
): Promise<ControlPlane | null> {
  const [{ serveApi }, { runLabTask }] = await Promise.all([
    import('../../api/api-server.js'),
    import('../lab/run-lab-task.js'),
  ]);
  if (gateway.config.store === null) {
    gateway.api = serveApi(gateway, null, runLabTask);
    await gateway.start({ sockets });
    return null;
  }
  const [{ ControlPlane }, { isControlElsewhere, isFolderInUse }, { electByLease }] = await Promise.all([
    import('../../control/control-plane.js'),
    import('../../control/errors.js'),
    import('./elect-by-lease.js'),
  ]);
  const { dataDir, endpoints, leaderLease } = gateway.config;
  // Requests for an endpoint that is not known yet wait: replicas of an earlier process may serve it.
  const settled = gateway.fleet.directory.settling.begin();
  const opened = gateway.start({ isAnnounced: false, sockets }).then(() =>
    ControlPlane.open({
      ...{ store: gateway.store!, routes: gateway.routes, self, dataDir, replicaUser },
      knownSecrets: () => [gateway.adminToken],
      url: () => gateway.url,
      adminUrl: () => withBrackets(values['admin-url'] ?? gateway.adminUrl),
      elect: leaderLease === null ? null : electByLease(leaderLease, (line) => say(`warning: ${line}`)),
      claimsCluster: values['claim-cluster'],
      acceptsKey: values['accept-secrets-key'],
      onHeld: () => gateway.announce(),
      onLead: () => say('this process is the control plane now'),
      onFault: (error) => gateway.fault(error),
      onWarning: (line) => say(`warning: ${line}`),
      onLost: ({ message }) => say(`warning: another process has taken over: ${message}`),
    }),
  );
  gateway.api = serveApi(gateway, opened, runLabTask);
  try {
    const control = await opened;
    if (control.leader !== null) say(control.leader.message);
    gateway.metrics.control = control;
    return control;
  } catch (error) {
    if (!isControlElsewhere(error) || endpoints.length === 0) throw error;
    say(`warning: running without a control plane: ${(error as Error).message}`);
    // Commands keep finding the control plane that owns the folder.
    if (!isFolderInUse(error)) gateway.announce();
    return null;
  } finally {
    settled();
  }
}
