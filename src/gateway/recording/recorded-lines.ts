import { RecordedFiles } from './recorded-files.js';

/** The recorded requests of an endpoint that arrived at `sinceUs` or later and before `untilUs`, line by line in their order. */
export async function* recordedLines(
  path: string,
  endpoint: string,
  sinceUs: number,
  untilUs = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  const files = await RecordedFiles.open(path);
  try {
    yield* files.lines(endpoint, sinceUs, untilUs);
  } finally {
    await files.close();
  }
}
