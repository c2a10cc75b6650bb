import { RunError } from '../kernel/errors.js';
import { summaryOf } from './commands.js';
import { badValue, missingFlag } from './errors.js';
import { type CommandLine, helpText } from './flags/command-line.js';
import { choice, text } from './flags/kinds.js';
import { asksForHelp, parseFlags } from './flags/parse-flags.js';
import type { CliIo } from './io.js';

const explainFlags = {
  'admin-url': text({
    default: null,
    placeholder: 'url',
    defaultText: 'http://127.0.0.1:8081',
    help: "the gateway's admin address",
  }),
  token: text({
    default: null,
    placeholder: 'token',
    defaultText: '$TWINYARD_ADMIN_TOKEN',
    help: 'the admin token that serve printed',
  }),
  format: choice({ default: 'table', known: ['table', 'json'], help: 'for people or for programs' }),
};

export const EXPLAIN: CommandLine = {
  name: 'explain',
  summary: summaryOf('explain'),
  operands: { usage: '<request-id>', least: 1, most: 1 },
  groups: [{ title: 'Gateway', flags: explainFlags }],
  examples: ['explain 4f6c1a52-0f6e-4f0e-9d0a-3c5d8b1a7e21 --token "$TWINYARD_ADMIN_TOKEN"'],
};

/** Asks a running gateway what became of a request: why it went where it went, or why it was refused. */
export async function explain(argv: readonly string[], io: CliIo): Promise<number> {
  if (asksForHelp(argv)) {
    io.stdout.write(await helpText(EXPLAIN));
    return 0;
  }
  const { values, operands } = await parseFlags<typeof explainFlags>(EXPLAIN, argv);
  const token = values.token ?? io.env.TWINYARD_ADMIN_TOKEN;
  if (token === undefined) {
    throw missingFlag('--token', 'is required', 'give the token that serve printed, or set TWINYARD_ADMIN_TOKEN');
  }
  const base = values['admin-url'] ?? 'http://127.0.0.1:8081';
  if (!URL.canParse(base)) throw badValue('--admin-url', base, 'is not a URL', 'one such as http://127.0.0.1:8081');
  const record = await ask(new URL(`/api/decisions/${encodeURIComponent(operands[0]!)}`, base), token);
  if (values.format === 'json') io.stdout.write(`${JSON.stringify(record, null, 2)}\n`);
  else {
    const { explainRequest } = await import('../gateway/decisions/explain-decision.js');
    io.stdout.write(explainRequest(record as Parameters<typeof explainRequest>[0]));
  }
  return 0;
}

async function ask(url: URL, token: string): Promise<unknown> {
  let answer: Response;
  try {
    answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    throw new RunError('GATEWAY_UNREACHABLE', `${url.origin}: ${cause?.code ?? error}; is the gateway running there?`);
  }
  const body = await answer.json().catch(() => null);
  if (answer.status === 200 && body !== null) return body;
  const problem = (body as { error?: unknown } | null)?.error;
  const why = typeof problem === 'string' ? problem : `status ${answer.status}; is this the admin port of a gateway?`;
  throw new RunError('EXPLAIN_FAILED', `${url.origin}: ${why}`);
}
