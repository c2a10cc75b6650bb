import { InputError, RunError } from '../../kernel/errors.js';
import type { ObservationDocument } from '../../observe/drive/observation.js';
import { summaryOf } from '../commands.js';
import type { CommandLine } from '../flags/command-line.js';
import { asTexts, type FlagValues } from '../flags/flag.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { serverSettingFlags } from '../observe/observe-flags.js';
import { writeOutputs } from '../output/output-files.js';
import {
  argumentsOf,
  comparedFlags,
  observedFlags,
  observeParts,
  replayedFlags,
  simModelFlags,
  type ValidateFlags,
  validateOutputFlags,
} from './validate-flags.js';
import { removeOld, type ValidationFiles, validationFiles } from './validation-files.js';

/** Flags that no other command has: listed in the documentation of `validate`. */
export const ownValidateGroups: CommandLine['groups'] = [
  { title: 'Simulation', flags: simModelFlags },
  { title: 'Output', flags: validateOutputFlags },
];

export const VALIDATE: CommandLine = {
  name: 'validate',
  summary: summaryOf('validate'),
  about:
    "Use it to judge the simulator against your server in one command: it runs 'observe', 'replay' and 'calibrate' and keeps all files.",
  groups: [
    ...Object.entries(observeParts).map(([title, flags]) => ({ title, flags: asTexts(flags) })),
    { title: 'Simulation', flags: { ...simModelFlags, ...asTexts(replayedFlags) } },
    { title: 'Comparison', flags: comparedFlags },
    { title: 'Output', flags: validateOutputFlags },
  ],
  examples: [
    'validate --server-url http://127.0.0.1:8000 --model qwen/qwen3-14b --rate 5 --num-requests 300 --format table',
    'validate --server-url http://127.0.0.1:8000 --model qwen/qwen3-14b --trace morning --e2e-mean-threshold 0.05 --report page.html',
  ],
};

type Flags = FlagValues<ValidateFlags>;

/** Observes a server, replays the trace and compares the two; files of finished steps are kept when a later step fails. */
export async function validate(argv: readonly string[], io: CliIo): Promise<number> {
  const flags: Flags = await parseFlags(VALIDATE, argv);
  const { values } = flags;
  const texts: Readonly<Record<string, unknown>> = values;
  const simModel = values['sim-model'];
  const [{ observe }, { replay }, { checkReplay, replayArguments }] = await Promise.all([
    import('../observe/observe.js'),
    import('../simulate/replay.js'),
    import('./replay-arguments.js'),
  ]);
  const model = simModel ?? texts.model;
  const replayed = argumentsOf(replayedFlags, texts);
  if (typeof model === 'string') {
    await checkReplay(model, [...argumentsOf(serverSettingFlags, texts), ...replayed], simModel !== null);
  }
  const files = validationFiles(values['output-dir'] ?? 'validation', values.report);
  const log = ['--log', values.log];
  let document = '';
  const observing: CliIo = { ...io, stdout: { write: (text) => (document += text) } };
  const load = argumentsOf(observedFlags, texts);
  const observed = await observe([...load, '--trace-output', files.prefix, ...log], observing);
  if ((JSON.parse(document) as ObservationDocument).requests.recorded === 0) return observed;
  removeOld(files);
  const kept = `the observation is kept in ${files.folder}`;
  await keeping(kept, io, async () => {
    const source = await replayArguments(files.header, simModel, replayed);
    const outputs = ['--results-path', files.results, '--metrics-path', files.metrics];
    const quiet: CliIo = { ...io, stdout: { write: () => {} } };
    await replay(['--trace', files.prefix, ...source, ...outputs, ...log], quiet);
  });
  const compared = await keeping(`${kept}, with its replay`, io, () => compare(files, flags, texts, io));
  return Math.max(observed, compared);
}

/** Reports which files are kept when a step fails. */
async function keeping<T>(kept: string, io: CliIo, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    io.stderr.write(`twinyard: ${kept}\n`);
    throw error;
  }
}

async function compare(
  files: ValidationFiles,
  flags: Flags,
  texts: Readonly<Record<string, unknown>>,
  io: CliIo,
): Promise<number> {
  const [{ compareFiles }, { printCalibration }, { documentJson }] = await Promise.all([
    import('../calibrate/compare-files.js'),
    import('../calibrate/print-calibration.js'),
    import('../../report/text/document-json.js'),
  ]);
  const { chunkTimes, comparison, data, header, metrics, results } = files;
  const flag = '--output-dir';
  const compared = {
    trace: { header: { flag, path: header }, data: { flag, path: data } },
    part: undefined,
    results,
    metrics,
    chunkTimes: texts['record-itl'] === null ? null : chunkTimes,
    repeat: null,
    warmUp: -1,
  };
  const calibration = await compareFiles(compared, flags).catch((error: unknown) => {
    // Both files were written by this command: what is wrong with them comes from the server.
    throw error instanceof InputError ? new RunError(error.code, error.message) : error;
  });
  const text = documentJson(calibration.document);
  await writeOutputs([{ flag, path: comparison, pieces: () => [text] }], io);
  const title = `${texts.model} at ${texts['server-url']} against its prediction`;
  return printCalibration(calibration, title, flags, io);
}
