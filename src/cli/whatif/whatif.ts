import { documentJson } from '../../report/text/document-json.js';
import type { WhatIfDocument } from '../../twin/whatif/whatif-document.js';
import { summaryOf } from '../commands.js';
import { createDiagnostics } from '../diagnostics.js';
import { conflictingFlags, missingFlag } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, presentation } from '../io.js';
import { type WhatIfFlags, whatIfGroups } from './whatif-flags.js';

/** As of a process that SIGINT ended. */
const CANCELLED = 130;

export const WHAT_IF: CommandLine = {
  name: 'whatif',
  summary: summaryOf('whatif'),
  about:
    'First the recording is simulated as it was, every request on the replica that served it, and compared with what was measured: ' +
    'the error of that is part of every interval. Then each alternative is simulated. A difference inside its interval is not claimed. ' +
    'Step times are fitted to the recording unless --latency-profile gives them, or the gateway has a latency profile of the endpoint.',
  groups: whatIfGroups,
  examples: [
    'whatif --recording traffic.jsonl --model qwen/qwen3-14b --policy lmetric --format table',
    'whatif --recording traffic.jsonl --model qwen/qwen3-14b --policy round-robin --replicas 6 --format table',
    'whatif --recording traffic.jsonl --model qwen/qwen3-14b --policy weighted,unified --policy-option block_size=64',
    'whatif --gateway http://127.0.0.1:8081 --last 1h --policy lmetric --format table',
    'whatif --gateway http://127.0.0.1:8081 --gpu H200 --replicas 3 --format table',
  ],
};

/** Predicts what another policy or fleet would have made of recorded traffic. */
export async function whatIfCommand(argv: readonly string[], io: CliIo): Promise<number> {
  const flags = await parseFlags<WhatIfFlags>(WHAT_IF, argv);
  const { values } = flags;
  if (values.recording === null && values.gateway === null) {
    const hint = "give the file that a gateway recorded, or --gateway with a running one's admin address";
    throw missingFlag('--recording', 'or --gateway is required', hint);
  }
  if (values.recording !== null && values.gateway !== null) {
    throw conflictingFlags('--gateway', 'given together with --recording', 'keep one of them');
  }
  if (values.recording !== null && values.to !== null) {
    throw conflictingFlags('--to', 'is for what a gateway recorded', 'leave it out, or give --gateway');
  }
  const diagnostics = createDiagnostics(values.log, io);
  const [{ openQuestion }, { whatIf }, { createWhatIfProgress }] = await Promise.all([
    import('./open-question.js'),
    import('../../twin/whatif/whatif.js'),
    import('./whatif-progress.js'),
  ]);
  const opened = await openQuestion(flags, io, diagnostics);
  const progress = createWhatIfProgress(io);
  const stop = new AbortController();
  io.beforeSignal(() => {
    progress.end();
    io.stderr.write('twinyard: cancelled: no result is printed\n');
    stop.abort();
    opened.close();
  });
  try {
    const document = await whatIf(opened.question, { signal: stop.signal, onProgress: progress.update });
    progress.end();
    for (const note of document.notes) diagnostics.warn(`${values.recording ?? values.gateway}: ${note}`);
    io.stdout.write(await printed(document, values.format, io));
    return 0;
  } catch (error) {
    // The signal ends the process; it has been reported.
    if (stop.signal.aborted) return CANCELLED;
    throw error;
  } finally {
    progress.end();
    opened.close();
  }
}

async function printed(document: WhatIfDocument, format: string, io: CliIo): Promise<string> {
  if (format === 'json') return documentJson(document);
  const { whatIfCsv, whatIfTable } = await import('../../twin/whatif/whatif-table.js');
  return format === 'csv' ? whatIfCsv(document) : whatIfTable(document, presentation(io));
}
