import type { Comparison } from '../../experiment/comparison/comparison.js';
import type { PlanDocument } from '../../experiment/plan/plan-document.js';
import type { SweepResult } from '../../experiment/sweep/sweep-document.js';
import type { TuneDocument } from '../../experiment/tune/tune-document.js';
import { documentJson } from '../../report/text/document-json.js';
import type { FlagValues } from '../flags/flag.js';
import { type CliIo, presentation } from '../io.js';
import { type OutputContent, writeOutputs } from '../output/output-files.js';
import type { ResultFlags } from './execution-flags.js';

/** What a command about experiments finds. */
export type ExperimentResult =
  | { kind: 'Compare'; found: Comparison }
  | { kind: 'Sweep'; found: SweepResult }
  | { kind: 'Plan'; found: PlanDocument }
  | { kind: 'Tune'; found: TuneDocument };

/** Writes the report, if one is asked for, and other files, and prints the result. */
export async function printResult(
  result: ExperimentResult,
  { format, report }: Pick<FlagValues<ResultFlags>['values'], 'format' | 'report'>,
  io: CliIo,
  others: readonly OutputContent[] = [],
): Promise<void> {
  const page = report === null ? '' : await resultText(result, 'html', io);
  const files = report === null ? [] : [{ flag: '--report', path: report, pieces: () => [page] }];
  if (files.length + others.length > 0) await writeOutputs([...others, ...files], io);
  io.stdout.write(await resultText(result, format, io));
}

async function resultText(result: ExperimentResult, format: string, io: CliIo): Promise<string> {
  const style = presentation(io);
  switch (result.kind) {
    case 'Compare': {
      const { found } = result;
      if (format === 'table')
        return (await import('../../report/compare/compare-table.js')).compareTable(found.document, style);
      if (format === 'csv') return (await import('../../report/compare/compare-csv.js')).compareCsv(found);
      if (format === 'html') return (await import('../../report/compare/compare-page.js')).comparePage(found);
      return documentJson(found.document);
    }
    case 'Sweep': {
      const { found } = result;
      if (format === 'table') return (await import('../../report/sweep/sweep-table.js')).sweepTable(found, style);
      if (format === 'csv') return (await import('../../report/sweep/sweep-csv.js')).sweepCsv(found);
      if (format === 'html') return (await import('../../report/sweep/sweep-page.js')).sweepPage(found);
      return documentJson(found.document);
    }
    case 'Plan': {
      const { found } = result;
      if (format === 'table') return (await import('../../report/plan/plan-table.js')).planTable(found, style);
      if (format === 'csv') return (await import('../../report/plan/plan-table.js')).planCsv(found);
      if (format === 'html') return (await import('../../report/plan/plan-page.js')).planPage(found);
      return documentJson(found);
    }
    case 'Tune': {
      const { found } = result;
      if (format === 'table') return (await import('../../report/tune/tune-table.js')).tuneTable(found, style);
      if (format === 'csv') return (await import('../../report/tune/tune-table.js')).tuneCsv(found);
      if (format === 'html') return (await import('../../report/tune/tune-page.js')).tunePage(found);
      return documentJson(found);
    }
  }
}
