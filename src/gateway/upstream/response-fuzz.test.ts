import { expect, test } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { Draw, ODD_EXTENSION } from '../wire/mutate-bytes.fixture.js';
import { responseCase, type SeenResponse, seenByNode, seenByUs } from './response-fuzz.fixture.js';

/** `TWINYARD_FUZZ_CASES=100000 npx vitest run src/gateway/upstream/response-fuzz.test.ts` for a long run. */
const CASES = Number(process.env.TWINYARD_FUZZ_CASES ?? 5000);
const AT_ONCE = 50;

/** What the gateway refuses and Node.js reads, by the gateway's reason. */
const STRICTER: readonly [RegExp, string][] = [
  [
    /transfer-encoding other than chunked|more than one transfer-encoding/,
    'Node.js reads to the end of the connection',
  ],
  [/both content-length and transfer-encoding/, 'Node.js reads to the end of the connection'],
  [/transfer-encoding in HTTP\/1\.0/, 'a proxy of that time forwards the field without reading chunks'],
  [/does not start with HTTP\/1\./, 'Node.js reads HTTP/0.9 and HTTP/2.0 in the syntax of HTTP/1.1'],
  [/control character in its status line/, 'Node.js takes any byte in a reason'],
  [/bare CR/, 'Node.js takes a CR in a status line for its end'],
  [/invalid status/, 'Node.js takes a status below 100'],
  [/invalid content-length/, 'a length of more than 15 digits is not exact'],
];

/** What the gateway reads and Node.js refuses, by its error code; for the bytes of the response. */
const LOOSER: Readonly<Record<string, (text: string) => boolean>> = {
  // Extensions of chunks are dropped, whatever they say; white space before them is allowed (RFC 9112, section 7.1.1).
  HPE_STRICT: (text) => ODD_EXTENSION.test(text),
  HPE_INVALID_CHUNK_SIZE: (text) => ODD_EXTENSION.test(text),
  // A tab around a value is white space (RFC 9110, section 5.6.3); Node.js refuses it behind a length.
  HPE_INVALID_CONTENT_LENGTH: (text) => isIgnored(text) || /length:[^\r]*\t[ \t]*\r/i.test(text),
  HPE_CLOSED_CONNECTION: isIgnored,
};

/**
 * The gateway uses only the fields of the final response, not those of 1xx responses and trailers, or a 1xx of
 * HTTP/1.0.
 */
function isIgnored(text: string): boolean {
  return /HTTP\/1\.(?:0 1\d\d|1 1\d\d[^\r\n]*\r\n[^\r])/.test(text) || /\n0+(?:;[^\r\n]*)?\r\n[^\r]/.test(text);
}

/** White space by RFC 9110, section 5.6.3; Node.js takes such a value for another encoding and reads to the end. */
const TAB_BEHIND_ENCODING = /transfer-encoding:[^\r\n]*\t[ \t]*\r/i;

/** How two results differ; empty when they agree, `*` when the difference is listed above. */
function difference(us: SeenResponse, node: SeenResponse, text: string): string {
  if (us.problem !== '' && node.problem !== '') return '';
  if (us.problem === node.problem) {
    if (JSON.stringify(us) === JSON.stringify(node)) return '';
    return TAB_BEHIND_ENCODING.test(text) ? '*' : 'other responses';
  }
  const isNamed =
    us.problem === '' ? (LOOSER[node.problem]?.(text) ?? false) : STRICTER.some(([reason]) => reason.test(us.problem));
  return isNamed ? '*' : `refused: ${us.problem || 'nothing'}, by Node.js: ${node.problem || 'nothing'}`;
}

test(
  `${CASES} changed responses are read as Node.js reads them, or refused`,
  async () => {
    const differences: object[] = [];
    const found = { same: 0, named: 0, complete: 0 };
    async function one(seed: number): Promise<void> {
      const given = responseCase(new Draw(randomStream(seed, 'response-fuzz')));
      const us = seenByUs(given);
      const pieces = given.pieces.map((piece) => piece.toString('latin1'));
      const problem = difference(us, await seenByNode(given), pieces.join(''));
      if (us.problem === '') found.complete++;
      if (problem === '') found.same++;
      else if (problem === '*') found.named++;
      else differences.push({ seed, problem, pieces });
    }
    for (let seed = 0; seed < CASES; seed += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => one(seed + i)));
    }
    expect(differences).toEqual([]);
    expect(found.same).toBeGreaterThan(0.9 * CASES);
    expect(found.complete).toBeGreaterThan(0.3 * CASES);
  },
  60_000 + 20 * CASES,
);
