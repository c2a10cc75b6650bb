import { expect, test } from 'vitest';
import { generateSpecWorkload } from '../../src/workload/generate/generate-spec-workload.js';
import { MILLION } from './million-spec.js';
import { plainGenerate } from './plain-generator.js';

test('the generator gives exactly what the plain way gives', () => {
  const spec = { ...MILLION, num_requests: 5000 };
  const { table } = generateSpecWorkload(spec, { seed: 7 });
  const plain = plainGenerate(spec, 7, table.arrivalUs[table.count - 1]!);
  expect(table.count).toBe(5000);
  const ours = Array.from({ length: table.count }, (_, row) => ({
    client: table.clients.name(table.client[row]!),
    session: table.sessions.name(table.session[row]!),
    atUs: table.arrivalUs[row]!,
    input: table.inputTokens[row]!,
    output: table.outputTokens[row]!,
  }));
  // The order within a microsecond is not specified.
  const ordered = (requests: typeof ours) =>
    [...requests].sort((a, b) => a.atUs - b.atUs || a.input - b.input || a.output - b.output);
  expect(ordered(ours).slice(0, -3)).toEqual(ordered(plain).slice(0, -3));
});
