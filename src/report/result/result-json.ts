import type { RequestResult, ResultDocument } from '../../simulator/result-document.js';

/** Entries per chunk: a large file is written in chunks and never exists as one string. */
const ENTRIES = 4096;

/** The result as printed: two spaces of indent, a newline at the end. */
export function resultJson(document: ResultDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** The result, followed by one line per request. */
export function* resultWithRequestsJson(
  document: ResultDocument,
  requests: readonly RequestResult[],
): Generator<string> {
  const text = JSON.stringify(document, null, 2);
  yield `${text.slice(0, text.lastIndexOf('\n'))},\n  "requests": `;
  yield* entries(requests, '  ');
  yield '\n}\n';
}

/** The list of requests alone, one per line. */
export function* requestsJson(requests: readonly RequestResult[]): Generator<string> {
  yield* entries(requests, '');
  yield '\n';
}

function* entries(requests: readonly RequestResult[], indent: string): Generator<string> {
  yield '[';
  for (let from = 0; from < requests.length; from += ENTRIES) {
    const lines = requests.slice(from, from + ENTRIES).map((request) => `\n${indent}  ${JSON.stringify(request)}`);
    yield `${from === 0 ? '' : ','}${lines.join(',')}`;
  }
  yield requests.length === 0 ? ']' : `\n${indent}]`;
}
