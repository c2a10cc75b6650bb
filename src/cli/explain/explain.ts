import { ApiClient } from '../api/api-client.js';
import { serverFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import type { CommandLine } from '../flags/command-line.js';
import { choiceFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, presentation } from '../io.js';

const formatFlags = {
  format: choiceFlag({ default: 'table', known: ['table', 'json'], help: 'output format' }),
};

export const EXPLAIN: CommandLine = {
  name: 'explain',
  summary: summaryOf('explain'),
  about:
    "The request id is in the response header 'x-request-id'. The page lists what each replica had reported, the parts of its score " +
    'and the rule that decided, or which limit refused the request.',
  operands: { usage: '<request-id>', least: 1, most: 1 },
  groups: [
    { title: 'Output', flags: formatFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: [
    'explain 4f6c1a52-0f6e-4f0e-9d0a-3c5d8b1a7e21',
    'explain 4f6c1a52-0f6e-4f0e-9d0a-3c5d8b1a7e21 --server http://127.0.0.1:8081 --token "$TWINYARD_TOKEN"',
  ],
};

export async function explain(argv: readonly string[], io: CliIo): Promise<number> {
  const { values, operands } = await parseFlags<typeof formatFlags & typeof serverFlags>(EXPLAIN, argv);
  const client = ApiClient.of(values, io);
  const record = await client.call('GET', `/api/v1/decisions/${encodeURIComponent(operands[0]!)}`);
  if (values.format === 'json') io.stdout.write(`${JSON.stringify(record, null, 2)}\n`);
  else {
    const { explainRequest } = await import('./explain-decision.js');
    io.stdout.write(explainRequest(record as Parameters<typeof explainRequest>[0], presentation(io)));
  }
  return 0;
}
