import { summaryOf } from '../commands.js';
import { createDiagnostics } from '../diagnostics.js';
import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { checkOutputs } from '../output/output-files.js';
import { limitCompiler } from '../tune-v8.js';
import { checkObserveFlags } from './check-observe-flags.js';
import {
  type ObserveFlags,
  observedServerFlags,
  observeLoadFlags,
  observeOutputFlags,
  observePlanFlags,
  serverSettingFlags,
} from './observe-flags.js';
import { observePaths, planInputs, writtenPaths } from './observe-paths.js';

export const OBSERVE: CommandLine = {
  name: 'observe',
  summary: summaryOf('observe'),
  about:
    "Use it to measure a server under a planned load: requests are generated as by 'run' or read from a trace as by 'replay', and the recorded trace can be replayed and calibrated.",
  groups: [
    { title: 'Server', flags: observedServerFlags },
    { title: 'Requests', flags: observePlanFlags },
    { title: 'Load', flags: observeLoadFlags },
    { title: 'Settings of the server', flags: serverSettingFlags },
    { title: 'Output', flags: observeOutputFlags },
  ],
  examples: [
    'observe --server-url http://127.0.0.1:8000 --model qwen/qwen3-14b --rate 5 --num-requests 300 --trace-output seen',
    'observe --server-url http://127.0.0.1:8000 --model qwen/qwen3-14b --workload chatbot --concurrency 16 --format table',
    'observe --server-url http://127.0.0.1:8000 --model qwen/qwen3-14b --trace morning --api-format chat --record-itl --trace-output seen',
  ],
};

/** Sends a plan's requests to a server and records the responses; 1 when the observation is partial, late or failed. */
export async function observe(argv: readonly string[], io: CliIo): Promise<number> {
  const flags = await parseFlags<ObserveFlags>(OBSERVE, argv);
  checkObserveFlags(flags);
  const paths = observePaths(flags);
  checkOutputs(writtenPaths(paths), planInputs(flags));
  const diagnostics = createDiagnostics(flags.values.log, io);
  const [
    { observe: drive },
    { planObservation },
    { observedServer, observeOptions },
    { observeProgress },
    { writeObservation },
  ] = await Promise.all([
    import('../../observe/drive/observe.js'),
    import('./plan-observation.js'),
    import('./observe-settings.js'),
    import('./observe-progress.js'),
    import('./write-observation.js'),
  ]);
  const server = observedServer(flags, io.env);
  const plan = await planObservation(flags, diagnostics);
  const progress = observeProgress(io);
  const stopping = new AbortController();
  // Before the first request there is nothing to save: a signal ends the process at once.
  const begun = () => void io.untilStopped().then(() => stopping.abort());
  const options = { ...observeOptions(flags), begun };
  limitCompiler(Number.POSITIVE_INFINITY);
  const observation = await drive(plan, server, options, progress?.update ?? null, stopping.signal).finally(() =>
    progress?.end(),
  );
  return writeObservation(observation, paths, flags.values.format, diagnostics, io);
}
