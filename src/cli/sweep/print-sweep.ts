import type { SweepResult } from '../../experiment/sweep/sweep-document.js';
import { documentJson } from '../../report/text/document-json.js';
import type { FlagValues } from '../flags/flag.js';
import { type CliIo, presentation } from '../io.js';
import { writeOutputs } from '../output/output-files.js';
import type { SweepOutputFlags } from './sweep-flags.js';

/** Writes the report, if one is asked for, and prints the result. */
export async function printSweep(
  result: SweepResult,
  { format, report }: FlagValues<SweepOutputFlags>['values'],
  io: CliIo,
): Promise<void> {
  if (report !== null) {
    const page = (await import('../../report/sweep/sweep-page.js')).sweepPage(result);
    await writeOutputs([{ flag: '--report', path: report, pieces: () => [page] }], io);
  }
  io.stdout.write(await formatted(result, format, io));
}

async function formatted(result: SweepResult, format: string, io: CliIo): Promise<string> {
  if (format === 'table') {
    return (await import('../../report/sweep/sweep-table.js')).sweepTable(result, presentation(io));
  }
  if (format === 'csv') return (await import('../../report/sweep/sweep-csv.js')).sweepCsv(result);
  if (format === 'html') return (await import('../../report/sweep/sweep-page.js')).sweepPage(result);
  return documentJson(result.document);
}
