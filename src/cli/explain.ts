import { ApiClient } from './api/api-client.js';
import { findServer, type Server } from './api/find-server.js';
import { HttpTransport } from './api/http-transport.js';
import { serverFlags } from './api/server-flags.js';
import { summaryOf } from './commands.js';
import { badValue, missingFlag } from './errors.js';
import type { CommandLine } from './flags/command-line.js';
import type { FlagValues } from './flags/flag.js';
import { choiceFlag, stringFlag } from './flags/kinds.js';
import { asksForHelp, parseFlags } from './flags/parse-flags.js';
import { helpText } from './help/help-text.js';
import type { CliIo } from './io.js';

/** Where a gateway that says nothing else has its admin port. */
const USUAL_URL = 'http://127.0.0.1:8081';

const explainFlags = {
  'admin-url': stringFlag({
    default: null,
    placeholder: 'url',
    defaultText: `$TWINYARD_SERVER, else the gateway of --data-dir, else ${USUAL_URL}`,
    help: "the gateway's admin address",
  }),
  token: stringFlag({
    default: null,
    placeholder: 'token',
    defaultText: '$TWINYARD_ADMIN_TOKEN, else $TWINYARD_TOKEN, else that of the gateway of --data-dir',
    help: 'the admin token that serve printed, or a key with a role',
  }),
  'data-dir': serverFlags['data-dir'],
  format: choiceFlag({ default: 'table', known: ['table', 'json'], help: 'for people or for programs' }),
};

export const EXPLAIN: CommandLine = {
  name: 'explain',
  summary: summaryOf('explain'),
  operands: { usage: '<request-id>', least: 1, most: 1 },
  groups: [{ title: 'Gateway', flags: explainFlags }],
  examples: [
    'explain 4f6c1a52-0f6e-4f0e-9d0a-3c5d8b1a7e21',
    'explain 4f6c1a52-0f6e-4f0e-9d0a-3c5d8b1a7e21 --token "$TWINYARD_ADMIN_TOKEN"',
  ],
};

/** Asks a running gateway what became of a request: why it went where it went, or why it was refused. */
export async function explain(argv: readonly string[], io: CliIo): Promise<number> {
  if (asksForHelp(argv)) {
    io.stdout.write(await helpText(EXPLAIN));
    return 0;
  }
  const { values, operands } = await parseFlags<typeof explainFlags>(EXPLAIN, argv);
  const client = new ApiClient(new HttpTransport(gatewayOf(values, io)));
  const record = await client.call('GET', `/api/v1/decisions/${encodeURIComponent(operands[0]!)}`);
  if (values.format === 'json') io.stdout.write(`${JSON.stringify(record, null, 2)}\n`);
  else {
    const { explainRequest } = await import('../gateway/decisions/explain-decision.js');
    io.stdout.write(explainRequest(record as Parameters<typeof explainRequest>[0]));
  }
  return 0;
}

/** As commands of the control plane find theirs; a gateway without one says nowhere where it is, but is mostly in one place. */
function gatewayOf(values: FlagValues<typeof explainFlags>['values'], { env }: CliIo): Server {
  const given = values['admin-url'];
  if (given !== null && !(URL.canParse(given) && /^https?:$/.test(new URL(given).protocol))) {
    throw badValue('--admin-url', given, 'is not a URL', `one such as ${USUAL_URL}`);
  }
  const token = values.token ?? env.TWINYARD_ADMIN_TOKEN ?? env.TWINYARD_TOKEN;
  const server = given === null ? null : new URL(given).origin;
  try {
    return findServer({ server, token: token ?? null, 'data-dir': values['data-dir'] }, { env });
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'SERVER_UNNAMED' && token !== undefined) return { url: USUAL_URL, token };
    if (code !== 'SERVER_UNNAMED' && code !== 'SERVER_TOKEN') throw error;
    const hint =
      'give the token that serve printed, or set TWINYARD_ADMIN_TOKEN, or name the --data-dir of the gateway';
    throw missingFlag('--token', 'is required', hint);
  }
}
