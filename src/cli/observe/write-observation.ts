import type { Observation, ObservationDocument } from '../../observe/drive/observation.js';
import type { Diagnostics } from '../diagnostics.js';
import { type CliIo, presentation } from '../io.js';
import { writeOutputs } from '../output/output-files.js';
import { observationFiles } from './observation-files.js';
import type { ObservePaths } from './observe-paths.js';

/** Writes the files, prints the result and warnings, and returns the exit code. */
export async function writeObservation(
  observation: Observation,
  paths: ObservePaths,
  format: string,
  diagnostics: Diagnostics,
  io: CliIo,
): Promise<number> {
  const { document } = observation;
  const files = observationFiles(observation, paths);
  if (files.length > 0) await writeOutputs(files, io);
  for (const { flag, path } of files) diagnostics.debug(`${flag}: wrote ${path}`);
  if (format === 'table') {
    const { observationTable } = await import('./observation-table.js');
    io.stdout.write(observationTable(document, presentation(io)));
  } else {
    io.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
  }
  for (const line of doubts(document)) diagnostics.warn(line);
  const failures = failuresOf(document);
  for (const line of failures) io.stderr.write(`twinyard: ${document.server.url}: ${line}\n`);
  return failures.length === 0 ? 0 : 1;
}

/** Why an observation is incomplete. */
function failuresOf({ late, partial, requests }: ObservationDocument): string[] {
  const lines: string[] = [];
  if (partial !== null) lines.push(`the observation is partial: ${partial}`);
  if (late !== null) lines.push(`the load was not the one planned: ${late}; use fewer requests, or a faster machine`);
  if (requests.recorded > 0 && requests.completed === 0) lines.push(`no request was completed: ${listed(requests)}`);
  if (requests.recorded === 0 && partial === null) {
    lines.push(`nothing was measured: ${requests.sent === 0 ? 'no request was due' : 'all requests were warm-up'}`);
  }
  return lines;
}

/** Limits of the measurement. */
function doubts({ prompts, requests }: ObservationDocument): string[] {
  const lines: string[] = [];
  const { difference, too_long: tooLong } = prompts;
  const hasProblems = Object.keys(requests.problems).length > 0;
  if (hasProblems && requests.completed > 0) {
    lines.push(
      `${requests.failed} of ${requests.recorded} requests have no complete response; problems: ${listed(requests)}`,
    );
  }
  if (prompts.counted_by === 'assumed') lines.push('the server does not count tokens: each word counts as one');
  else if (difference.compared > 0 && difference.exact * 2 < difference.compared) {
    const off = `${difference.min} to ${difference.max} tokens off, ${difference.mean.toFixed(1)} on average`;
    lines.push(`only ${difference.exact} of ${difference.compared} prompts are as long as planned: ${off}`);
  }
  if (tooLong > 0) lines.push(`${tooLong} requests are longer than the server takes`);
  return lines;
}

function listed({ problems }: ObservationDocument['requests']): string {
  return Object.entries(problems)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
