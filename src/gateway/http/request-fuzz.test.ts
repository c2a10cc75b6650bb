import { METHODS } from 'node:http';
import { expect, test } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { Draw, ODD_EXTENSION } from '../wire/mutate-bytes.fixture.js';
import {
  REFUSED_EXPECTATION,
  requestCase,
  type Seen,
  type SeenRequest,
  seenByNode,
  seenByUs,
} from './request-fuzz.fixture.js';

/** `TWINYARD_FUZZ_CASES=100000 npx vitest run src/gateway/http/request-fuzz.test.ts` for a long run. */
const CASES = Number(process.env.TWINYARD_FUZZ_CASES ?? 3000);
const AT_ONCE = 50;

/** What the gateway refuses and Node.js reads, by the gateway's reason. */
const STRICTER: readonly [RegExp, string][] = [
  [/more than one host/, 'RFC 9112, section 3.2, asks for 400; Node.js takes the first'],
  [/could be read as/, 'other servers take such names for framing fields'],
  [/neither HTTP\/1\.1 nor HTTP\/1\.0/, 'Node.js reads HTTP/0.9 and HTTP/2.0 in the syntax of HTTP/1.1'],
  [/invalid target/, 'Node.js reads request lines without a version as HTTP/0.9'],
  [/invalid method/, 'Node.js skips single CR and LF before a request'],
  [/transfer-encoding in HTTP\/1\.0/, 'a proxy of that time forwards the field without reading chunks'],
  [/transfer-encoding other than chunked|more than one transfer-encoding/, 'only chunked is decoded'],
  [/invalid content-length/, 'a length of more than 15 digits is not exact'],
];

/**
 * What the gateway reads and Node.js refuses, by its error code: the request that the gateway reads, the one before it,
 * all bytes.
 */
const LOOSER: Readonly<
  Record<string, (request: SeenRequest, before: SeenRequest | undefined, text: string) => boolean>
> = {
  // Handlers respond to unknown methods with 405.
  HPE_INVALID_METHOD: ({ method }) => !METHODS.includes(method),
  // Passed on as they are.
  HPE_INVALID_URL: ({ target }) => /[\x80-\xff]/.test(target),
  // Extensions of chunks are dropped, whatever they say; white space before them is allowed (RFC 9112, section 7.1.1).
  HPE_STRICT: (request, _, text) => isChunked(request) && ODD_EXTENSION.test(text),
  HPE_INVALID_CHUNK_SIZE: (request, _, text) => isChunked(request) && ODD_EXTENSION.test(text),
  // A tab around a value is white space (RFC 9110, section 5.6.3); Node.js refuses it behind a length or an encoding.
  HPE_INVALID_CONTENT_LENGTH: (request) => /^\d+$/.test(fieldOf(request, 'content-length')),
  HPE_INVALID_TRANSFER_ENCODING: isChunked,
  // Node.js applies `connection: close` in trailers.
  HPE_CLOSED_CONNECTION: (_, before) => before !== undefined && isChunked(before),
};

function isChunked(request: SeenRequest): boolean {
  return fieldOf(request, 'transfer-encoding') === 'chunked';
}

/** Why the gateway reads nothing after a request, and Node.js may. */
function endsOurs(before: SeenRequest | undefined): boolean {
  if (before === undefined) return false;
  return (
    // The client may send the body or not.
    before === REFUSED_EXPECTATION ||
    // What follows may be in the other protocol.
    fieldOf(before, 'upgrade') !== '' ||
    // Node.js goes by the last of `close` and `keep-alive`.
    fieldOf(before, 'connection').includes('close')
  );
}

/** How two results differ; empty when they agree, `*` when the difference is listed above. */
function difference(us: Seen, node: Seen, text: string): string {
  const at = us.requests.findIndex((request, i) => JSON.stringify(request) !== JSON.stringify(node.requests[i]));
  const i = at < 0 ? us.requests.length : at;
  const [before, ours, theirs] = [us.requests[i - 1], us.requests[i], node.requests[i]];
  const refusals = `refused: ${us.refusal || 'nothing'}, by Node.js: ${node.refusal || 'nothing'}`;
  if (ours !== undefined && theirs !== undefined) {
    // Node.js looks for `100-continue` anywhere in the value.
    return ours === REFUSED_EXPECTATION && fieldOf(theirs, 'expect').includes('100-continue') ? '*' : 'other requests';
  }
  // Both refuse it, for its expectation or for its body.
  if (ours === REFUSED_EXPECTATION && node.refusal !== '') return '*';
  if (ours !== undefined) return LOOSER[node.refusal]?.(ours, before, text) ? '*' : `ours reads one more, ${refusals}`;
  const isNamed = endsOurs(before) || STRICTER.some(([reason]) => reason.test(us.refusal));
  if (theirs !== undefined) return isNamed ? '*' : `Node.js reads one more, ${refusals}`;
  if ((us.refusal === '') === (node.refusal === '')) return '';
  // The gateway drops all bytes after the last request.
  if (us.refusal === '' && node.refusal === 'HPE_CLOSED_CONNECTION') return '';
  return isNamed ? '*' : refusals;
}

/** All values of a field, in lower case. */
function fieldOf({ headers }: SeenRequest, name: string): string {
  return headers
    .filter((_, i) => i % 2 === 1 && headers[i - 1]!.toLowerCase() === name)
    .join()
    .toLowerCase();
}

test(
  `${CASES} connections with changed requests are read as Node.js reads them, or refused`,
  async () => {
    const differences: object[] = [];
    const found = { same: 0, named: 0, requests: 0 };
    async function one(seed: number): Promise<void> {
      const pieces = requestCase(new Draw(randomStream(seed, 'request-fuzz')));
      const [us, node] = await Promise.all([seenByUs(pieces), seenByNode(pieces)]);
      const texts = pieces.map((piece) => piece.toString('latin1'));
      const problem = difference(us, node, texts.join(''));
      found.requests += us.requests.length;
      if (problem === '') found.same++;
      else if (problem === '*') found.named++;
      else differences.push({ seed, problem, pieces: texts });
    }
    for (let seed = 0; seed < CASES; seed += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => one(seed + i)));
    }
    expect(differences).toEqual([]);
    expect(found.same).toBeGreaterThan(0.9 * CASES);
    expect(found.requests).toBeGreaterThan(CASES);
  },
  60_000 + 20 * CASES,
);
