import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Document } from 'yaml';
import { filesSha256 } from '../../experiment/recipes/trace-recipe.js';
import { parseYaml } from '../../schema/read-yaml.js';
import { copyRecorded, MOST_RECORDED } from '../../twin/jobs/copy-recorded.js';
import type { LabInput } from '../../twin/lab/lab-question.js';
import { SPEC_CODES, specInvalid } from '../../workload/errors.js';
import { readInputFile } from '../../workload/input-file.js';
import { labFileRefused, nothingRecorded } from './errors.js';

const MOST_ALIASES = 100;

export interface PlacedInput {
  readonly path: string;
  readonly sha256: string;
  readonly warnings: string[];
}

/** Puts the input of an experiment into a folder, under the name that its command has for it. */
export async function placeLabInput(input: LabInput, folder: string): Promise<PlacedInput> {
  const path = join(folder, input.name);
  const warnings: string[] = [];
  if ('recording' in input) {
    const { dropped, requests } = await copyRecorded(input.recording, path);
    if (requests === 0) throw nothingRecorded(input.recording.endpoint);
    if (dropped > 0) warnings.push(`only the last ${MOST_RECORDED} requests are simulated: ${dropped} came before`);
  } else {
    copyFileSync(input.path, path);
    if (input.format === 'workload') await refuseFiles(path, input.name);
  }
  return { path, sha256: await filesSha256([path]), warnings };
}

/** A specification may name files of lengths: those of the server must not be read for a client. */
async function refuseFiles(path: string, name: string): Promise<void> {
  const text = (await readInputFile(path)).toString('utf8');
  const { document, places } = parseYaml(text, name, SPEC_CODES);
  const found = fileKey(plain(document, name));
  if (found !== null) throw labFileRefused(places.of(found));
}

function plain(document: Document, name: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    throw specInvalid(name, (error as Error).message, 'write it without aliases');
  }
}

/** The path of the first key that names a file. */
function fileKey(value: unknown, above = ''): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, below] of Object.entries(value)) {
    const here = Array.isArray(value) ? `${above}[${key}]` : above === '' ? key : `${above}.${key}`;
    const found = key === 'file' ? here : fileKey(below, here);
    if (found !== null) return found;
  }
  return null;
}
