import { summaryOf } from '../commands.js';
import { createDiagnostics } from '../diagnostics.js';
import type { CommandLine } from '../flags/command-line.js';
import { type InstanceFlags, instanceFlags } from '../flags/instance-flags.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { tuneServer } from '../tune-v8.js';
import { type EngineFlags, engineFlags, faultFlags } from './engine-flags.js';

export const ENGINE: CommandLine = {
  name: 'engine',
  summary: summaryOf('engine'),
  about:
    'Use it to test clients and gateways against realistic timing: it batches, caches prefixes and streams like vLLM, at the speed of the simulated model and GPU.',
  groups: [
    { title: 'Engine', flags: engineFlags },
    { title: 'Faults', flags: faultFlags },
    { title: 'Instance', flags: instanceFlags },
  ],
  examples: [
    'engine --model qwen/qwen3-14b --hardware H100 --port 9001',
    'engine --model qwen/qwen3-14b --port 9002 --speed 10 --fail-rate 0.01 --startup-delay 30',
  ],
};

/** Runs an emulated engine until SIGINT or SIGTERM; then lets requests finish. */
export async function engine(argv: readonly string[], io: CliIo): Promise<number> {
  const flags = await parseFlags<EngineFlags & InstanceFlags>(ENGINE, argv);
  const { values } = flags;
  const diagnostics = createDiagnostics(values.log, io);
  const [{ resolveReplica }, { givenProfile }, { startEngine }] = await Promise.all([
    import('../config/resolve-replica.js'),
    import('../config/profile-settings.js'),
    import('../../emulator/start-engine.js'),
  ]);
  const { config, latency } = resolveReplica(flags, null, diagnostics, await givenProfile(flags));
  tuneServer();
  const stopped = io.untilStopped();
  const modelName = values['served-model-name'] ?? values.model ?? config.model;
  const running = await startEngine({
    config,
    latency,
    modelName,
    host: values.host ?? '127.0.0.1',
    port: values.port,
    speed: values.speed,
    seed: values.seed,
    meanOutputTokens: values['mean-output-tokens'],
    maxQueued: values['max-num-queued-reqs'],
    maxBodyBytes: values['max-body-bytes'],
    startupUs: values['startup-delay'] * 1e6,
    faults: {
      failRate: values['fail-rate'],
      hangRate: values['hang-rate'],
      disconnectRate: values['disconnect-rate'],
      slowFactor: values['slow-factor'],
    },
  });
  const say = (line: string) => io.stderr.write(`twinyard: ${line}\n`);
  say(`${modelName} on ${running.url}`);
  await stopped;
  const { inFlight } = running.stats();
  if (inFlight > 0) say(`stopping, ${inFlight} requests in flight`);
  await running.close(values.drain * 1000);
  return 0;
}
