import type { Calibration, CalibrationDocument } from '../../observe/calibrate/calibration.js';
import { documentJson } from '../../report/text/document-json.js';
import type { FlagValues } from '../flags/flag.js';
import { type CliIo, presentation } from '../io.js';
import { writeOutputs } from '../output/output-files.js';
import type { CalibrationOutputFlags, ComparingFlags } from './calibrate-flags.js';

/** Writes the report, prints the comparison, and returns the exit code: 1 when a given tolerance is missed. */
export async function printCalibration(
  calibration: Calibration,
  title: string,
  flags: FlagValues<CalibrationOutputFlags & ComparingFlags>,
  io: CliIo,
): Promise<number> {
  const { document } = calibration;
  const { format, report } = flags.values;
  if (report !== null) {
    const text = isPage(report) ? await asPage(calibration, title) : documentJson(document);
    await writeOutputs([{ flag: '--report', path: report, pieces: () => [text] }], io);
  }
  io.stdout.write(format === 'table' ? await asTable(document, title, io) : documentJson(document));
  const missed = missedTolerances(document, flags);
  if (missed.length > 0) io.stderr.write(`twinyard: missed: ${missed.join('; ')}\n`);
  return missed.length > 0 ? 1 : 0;
}

/** A report with another ending is the JSON document. */
function isPage(path: string): boolean {
  return /\.html?$/i.test(path);
}

async function asPage(calibration: Calibration, title: string): Promise<string> {
  const { calibrationPage } = await import('../../report/calibrate/calibrate-page.js');
  return calibrationPage(calibration, title);
}

async function asTable(document: CalibrationDocument, title: string, io: CliIo): Promise<string> {
  const { calibrationTable } = await import('../../report/calibrate/calibrate-table.js');
  return calibrationTable(document, title, presentation(io));
}

function missedTolerances(
  { hit_rate: hits, tolerances }: CalibrationDocument,
  flags: FlagValues<ComparingFlags>,
): string[] {
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  const missed = Object.entries(tolerances)
    .filter(([, verdict]) => !verdict.within)
    .map(([name, { threshold, value }]) => {
      const found = value === null ? 'nothing to judge' : percent(value);
      return `--${name.replace('_', '-')}-threshold: ${found} (limit ${percent(threshold)})`;
    });
  if (flags.given('hit-rate-tolerance-pp') && !hits?.within) {
    const found = hits === undefined ? 'nothing to judge' : `${hits.abs_error_pp.toFixed(1)} points`;
    missed.push(`--hit-rate-tolerance-pp: ${found} (limit ${flags.values['hit-rate-tolerance-pp']} points)`);
  }
  return missed;
}
