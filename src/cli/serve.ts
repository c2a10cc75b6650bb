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
    'serve --replica http://127.0.0.1:9001 --replica http://127.0.0.1:9002',
    'serve -c examples/twinyard.yaml',
    'serve --replica http://127.0.0.1:9001 --routing-policy lmetric --port 8000 --decision-log out/decisions.jsonl',
    'serve --replica http://127.0.0.1:9001 --store twinyard.db --record traffic.jsonl',
  ],
};

/** Runs the gateway until the process is asked to end; then lets requests finish. */
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
  try {
    await gateway.start();
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
  await gateway.close();
  return 0;
}
