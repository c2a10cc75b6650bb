import { gzipSync } from 'node:zlib';
import type { Trace } from '../../workload/trace.js';
import type { Diagnostics } from '../diagnostics.js';
import { conflictingFlags } from '../errors.js';
import type { CliIo } from '../io.js';
import { type OutputContent, writeOutputs } from '../output/output-files.js';
import { type OutputFormat, type OutputPlace, placePaths } from './output-place.js';

type Pieces = Iterable<string | Uint8Array>;

/** Text is packed in parts of this size: a gzip file may consist of several. */
const PACKED_CHARACTERS = 1 << 20;

const TITLES = { mooncake: 'Mooncake', bailian: 'Bailian' };

/** Writes a trace to its place, completely or not at all; warns of what the format cannot express. */
export async function writeTraceTo(
  place: OutputPlace,
  trace: Trace,
  diagnostics: Diagnostics,
  io: CliIo,
): Promise<void> {
  const { format } = place;
  if (format === 'mooncake' || format === 'bailian') {
    const { lostFacts } = await import('../../workload/formats/lost-facts.js');
    if (format === 'bailian') checkBailian(trace);
    const lost = lostFacts(format, trace);
    if (lost.length > 0) diagnostics.warn(`${TITLES[format]} has no place for ${lost.join(', ')}: left out`);
  }
  await writePieces(place, await textsOf(place.format, trace), io);
}

async function textsOf(format: OutputFormat, trace: Trace): Promise<(() => Iterable<string>)[]> {
  if (format === 'mooncake') {
    const { writeMooncake } = await import('../../workload/formats/mooncake/write-mooncake.js');
    return [() => writeMooncake(trace)];
  }
  if (format === 'bailian') {
    const { writeBailian } = await import('../../workload/formats/bailian/write-bailian.js');
    return [() => writeBailian(trace)];
  }
  const { writeTrace } = await import('../../workload/trace-v2/write.js');
  const { data, header } = writeTrace(trace);
  return [() => [header], () => data];
}

/** Bailian's records are turns of sessions with their blocks of 512 tokens: nothing else can be written in this format. */
function checkBailian({ table }: Trace): void {
  const { blocks, count, inputTokens, session } = table;
  for (let row = 0; row < count; row++) {
    const known = inputTokens[row] === 0 || (blocks?.blockTokens === 512 && blocks.blocksOf(row) > 0);
    if (known && session[row]! > 0) continue;
    const problem = 'the trace lacks the session or the blocks of some requests';
    throw conflictingFlags('--to', problem, "write it as 'trace-v2' or 'mooncake'");
  }
}

/** Writes one text for each of the place's files, or the only one to stdout. */
export async function writePieces(
  place: OutputPlace,
  texts: readonly (() => Iterable<string>)[],
  io: CliIo,
): Promise<void> {
  const paths = placePaths(place);
  if (paths.length === 0) {
    for (const piece of texts[0]!()) io.stdout.write(piece);
    return;
  }
  const outputs = paths.map((named, i): OutputContent => {
    const pieces = texts[i]!;
    return { ...named, pieces: (): Pieces => (named.path.endsWith('.gz') ? packed(pieces()) : pieces()) };
  });
  await writeOutputs(outputs, io);
}

function* packed(pieces: Iterable<string>): Generator<Uint8Array> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < PACKED_CHARACTERS) continue;
    yield gzipSync(text);
    text = '';
  }
  yield gzipSync(text);
}
