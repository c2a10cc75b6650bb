import { InputError } from '../kernel/errors.js';
import { summaryOf } from './commands.js';
import { type CommandLine, helpText } from './flags/command-line.js';
import { asksForHelp, parseFlags } from './flags/parse-flags.js';
import { type ServeFlags, serveFlags, serveFleetFlags } from './flags/serve-flags.js';
import type { CliIo } from './io.js';
import { limitCompiler } from './limit-compiler.js';

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
  const config = gatewayConfig(flags);
  // A server lives long enough for the best code to pay.
  limitCompiler(Number.POSITIVE_INFINITY);
  const gateway = new Gateway(config, () => gatewayConfig(flags));
  const stopped = io.untilStopped();
  try {
    await gateway.start();
  } catch (error) {
    await gateway.close(0).catch(() => {});
    throw cannotListen(error);
  }
  const say = (line: string) => io.stderr.write(`twinyard: ${line}\n`);
  const ready = gateway.replicas().filter(({ state }) => state === 'ready').length;
  say(`serving on ${gateway.url}, ${ready} of ${gateway.replicas().length} replicas ready`);
  say(`admin on ${gateway.adminUrl}, token ${gateway.adminToken}`);
  io.onHangUp(() => {
    try {
      gateway.reloadConfig();
      say('read its configuration again');
    } catch (error) {
      say(`keeps its configuration: ${(error as Error).message}`);
    }
  });
  await stopped;
  say(`stopping, ${gateway.inFlight} requests under way`);
  await gateway.close();
  return 0;
}

/** A port that is taken or forbidden is a mistake in the input like any other. */
function cannotListen(error: unknown): unknown {
  const { code, port, address } = error as NodeJS.ErrnoException & { port?: number; address?: string };
  if (code === 'EADDRINUSE') {
    return new InputError(
      'PORT_TAKEN',
      '--port',
      `${address}:${port} is taken`,
      'give another port, or 0 for a free one',
    );
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new InputError(
      'ADDRESS_REFUSED',
      '--host',
      `cannot listen on ${address ?? 'it'} (${code})`,
      'give another address or port',
    );
  }
  return error;
}
