import { fileURLToPath } from 'node:url';
import type { ControlPlane } from '../control/control-plane.js';
import type { Gateway } from '../gateway/gateway.js';
import { cannotListen } from './cannot-listen.js';
import { summaryOf } from './commands.js';
import { type CommandLine, helpText } from './flags/command-line.js';
import { asksForHelp, parseFlags } from './flags/parse-flags.js';
import { type ServeFlags, serveFlags, serveFleetFlags } from './flags/serve-flags.js';
import type { CliIo } from './io.js';
import { tuneServer } from './tune-server.js';

export const SERVE: CommandLine = {
  name: 'serve',
  summary: summaryOf('serve'),
  groups: [
    { title: 'Replicas', flags: serveFleetFlags },
    { title: 'Gateway', flags: serveFlags },
  ],
  examples: [
    'serve',
    'serve --replica http://127.0.0.1:9001 --replica http://127.0.0.1:9002',
    'serve -c examples/twinyard.yaml',
    'serve --replica http://127.0.0.1:9001 --routing-policy lmetric --port 8000 --decision-log out/decisions.jsonl',
    'serve --replica http://127.0.0.1:9001 --store twinyard.db --record traffic.jsonl',
  ],
};

/** Runs the gateway, and the control plane where there is a store, until the process is asked to end; then lets requests finish. */
export async function serve(argv: readonly string[], io: CliIo): Promise<number> {
  if (asksForHelp(argv)) {
    io.stdout.write(await helpText(SERVE));
    return 0;
  }
  const flags = await parseFlags<ServeFlags>(SERVE, argv);
  const [{ Gateway }, { gatewayConfig }] = await Promise.all([
    import('../gateway/gateway.js'),
    import('./config/gateway-config.js'),
  ]);
  const say = (line: string) => io.stderr.write(`twinyard: ${line}\n`);
  const readConfig = () => gatewayConfig(flags, (line) => say(`warning: ${line}`));
  const config = readConfig();
  tuneServer();
  const gateway = new Gateway(config, readConfig);
  gateway.onWarning = (line) => say(`warning: ${line}`);
  gateway.onFault = (error) => say(`went on after a fault: ${(error as Error).stack ?? error}`);
  const stopped = io.untilStopped();
  let control: ControlPlane | null = null;
  try {
    control = await start(gateway, say);
  } catch (error) {
    await gateway.close(0);
    throw cannotListen(error, config.admin.port);
  }
  const ready = gateway.replicas().filter(({ state }) => state === 'ready').length;
  say(`serving on ${gateway.url}, ${ready} of ${gateway.replicas().length} replicas ready`);
  say(`admin on ${gateway.adminUrl}, token ${gateway.adminToken}`);
  io.onHangUp(() => {
    try {
      const needsRestart = gateway.reloadConfig();
      const rest = needsRestart.length === 0 ? '' : `; ${needsRestart.join(', ')} will hold from the next start on`;
      say(`read its configuration again${rest}`);
    } catch (error) {
      say(`keeps its configuration: ${(error as Error).message}`);
    }
  });
  await stopped;
  say(`stopping, ${gateway.inFlight} requests under way`);
  const left = control === null ? 0 : await control.running();
  await control?.close();
  await gateway.close();
  if (left > 0)
    say(`${left} replicas go on running: the next 'twinyard serve' finds them; deleting their endpoints ends them`);
  return 0;
}

const SELF = [process.execPath, fileURLToPath(new URL('./main.js', import.meta.url))];

/** Starts a gateway, and a control plane if it has a store. One with replicas of its own can do without, if it has to. */
async function start(gateway: Gateway, say: (line: string) => void): Promise<ControlPlane | null> {
  if (gateway.config.store === null) {
    await gateway.start();
    return null;
  }
  const [{ ControlPlane }, { adminExtension }, { isControlElsewhere }] = await Promise.all([
    import('../control/control-plane.js'),
    import('../control/admin-extension.js'),
    import('../control/errors.js'),
  ]);
  const { dataDir, endpoints } = gateway.config;
  // Who asks for a model that is not known yet is told to come back.
  gateway.fleet.isSettling = true;
  const opened = gateway.start().then(() =>
    ControlPlane.open({
      ...{ store: gateway.store!, routes: gateway.routes, self: SELF, dataDir },
      url: () => gateway.url,
      onFault: (error) => gateway.fault(error),
      onLost: ({ message }) => say(`warning: keeps nothing true any more, and serves what it has: ${message}`),
    }),
  );
  gateway.extension = adminExtension(opened);
  try {
    return await opened;
  } catch (error) {
    if (!isControlElsewhere(error) || endpoints.length === 0) throw error;
    say(`warning: runs without a control plane: ${(error as Error).message}`);
    return null;
  } finally {
    gateway.fleet.isSettling = false;
  }
}
