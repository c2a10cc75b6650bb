import { resolve } from 'node:path';
import { DATA_DIR, serverFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import type { CommandLine } from '../flags/command-line.js';
import type { FlagValues } from '../flags/flag.js';
import { choiceFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, presentation } from '../io.js';
import { type ServeFlags, serveFlags, serveFleetFlags } from '../serve/serve-flags.js';
import type { Check } from './check.js';

const doctorFlags = {
  format: choiceFlag({ default: 'table', known: ['table', 'json'], help: 'output format' }),
  server: serverFlags.server,
  token: serverFlags.token,
};

type DoctorFlags = typeof doctorFlags & ServeFlags;

export const DOCTOR: CommandLine = {
  name: 'doctor',
  summary: summaryOf('doctor'),
  about:
    "Give it the flags of 'twinyard serve', before the gateway starts or while it runs: it checks the configuration, ports, rights of " +
    'folders and files, the limit of open files, the store, what is found in Kubernetes or Ray Serve, and each listed replica: health, ' +
    'models, signals, clock and version. It changes nothing. A finding is one line with its hint; the exit code is 1 when there is one, else 0.',
  groups: [
    { title: 'Doctor', flags: doctorFlags },
    { title: 'Replicas', flags: serveFleetFlags },
    { title: 'Gateway', flags: serveFlags },
  ],
  examples: ['doctor', 'doctor -c examples/twinyard.yaml', 'doctor --replica http://127.0.0.1:9001 --format json'],
};

/** Checks what a gateway needs, and prints what was found. */
export async function doctor(argv: readonly string[], io: CliIo): Promise<number> {
  const flags = await parseFlags<DoctorFlags>(DOCTOR, argv);
  const checks = await allChecks(flags, io);
  const findings = checks.filter(({ problem }) => problem !== '');
  if (flags.values.format === 'json') {
    io.stdout.write(`${JSON.stringify({ findings: findings.length, checks }, null, 2)}\n`);
  } else {
    const { createStyle } = await import('../../report/text/style.js');
    const { better, worse } = createStyle(presentation(io));
    for (const { check, detail, hint, place, problem } of checks) {
      const isFine = problem === '';
      const said = isFine ? `${place}: ${detail}` : `${place}: ${problem}; ${hint}`;
      const mark = isFine ? better('ok     ') : worse('finding');
      io.stdout.write(`${mark}  ${check.padEnd(8)} ${said.replace(/\p{Cc}+/gu, ' ')}\n`);
    }
    const count = findings.length === 1 ? '1 finding' : `${findings.length || 'no'} findings`;
    io.stdout.write(`${count} in ${checks.length} checks\n`);
  }
  return findings.length === 0 ? 0 : 1;
}

/** Without a valid configuration only the running gateway can be checked. */
async function allChecks(flags: FlagValues<DoctorFlags>, io: CliIo): Promise<Check[]> {
  const [{ gatewayConfig }, { finding, findingOf, fine }, { checkGateway }] = await Promise.all([
    import('../serve/gateway-config.js'),
    import('./check.js'),
    import('./check-gateway.js'),
  ]);
  const { values } = flags;
  const place = values.config ?? 'flags';
  const running = (dataDir: string) => checkGateway(values, dataDir, io);
  const warnings: string[] = [];
  let config: ReturnType<typeof gatewayConfig>;
  try {
    config = gatewayConfig(flags, (line) => warnings.push(line));
  } catch (error) {
    const wrong = findingOf('config', place, error, 'correct it');
    return [wrong, ...(await running(resolve(values['data-dir'] ?? DATA_DIR)))];
  }
  const [{ checkMachine }, { checkStore }, { checkReplicas }, { checkDiscovery }, { checkIssuer }] = await Promise.all([
    import('./check-machine.js'),
    import('./check-store.js'),
    import('./check-replicas.js'),
    import('./check-discovery.js'),
    import('./check-issuer.js'),
  ]);
  const parts = await Promise.all([
    checkMachine(config),
    config.store === null ? [] : checkStore(config.store),
    config.access.jwt === undefined ? [] : checkIssuer(config.access.jwt),
    checkReplicas(config),
    checkDiscovery(config),
    running(config.dataDir),
  ]);
  return [
    fine('config', place, 'valid'),
    ...warnings.map((line) => finding('config', place, line, 'remove the setting, or correct it')),
    ...parts.flat(),
  ];
}
