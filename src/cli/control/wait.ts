import { ApiClient } from '../api/api-client.js';
import { workspaceFor } from '../api/find-server.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import { missingFlag } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { stringFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { calledResource } from './targets/called-resource.js';
import { kindList } from './targets/kind-list.js';
import { readWaitCondition, WAIT_CONDITIONS } from './targets/wait-condition.js';
import { timeoutFlags, waitFor } from './targets/wait-for.js';

const waitFlags = {
  for: stringFlag({
    default: null,
    placeholder: 'condition',
    help: WAIT_CONDITIONS,
  }),
  ...timeoutFlags,
  ...workspaceFlags,
};

export const WAIT: CommandLine = {
  name: 'wait',
  summary: summaryOf('wait'),
  about:
    'Use it in scripts, after apply or delete. It ends with 0 once the condition holds, and with 1 when the resource fails or the ' +
    'time is over; a restart of the server in between does not end it.',
  operands: { usage: 'KIND/NAME', least: 1, most: 2 },
  groups: [
    { title: 'Resource', flags: waitFlags },
    { title: 'Server', flags: serverFlags },
  ],
  more: kindList,
  examples: [
    'wait ep/chat --for condition=Ready',
    "wait ep/chat --for 'jsonpath={.status.phase}=Running'",
    'wait endpoint chat --for phase=Running --timeout 30m',
  ],
};

/** Ends with 0 when the condition holds, and with 1 when the time is over. */
export async function wait(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof waitFlags & typeof serverFlags>(WAIT, argv);
  const called = await calledResource(operands, workspaceFor(values, io), WAIT);
  if (values.for === null) throw missingFlag('--for', 'is required', "give a condition, as in '--for ready'");
  const condition = readWaitCondition(values.for, called.kind, '--for');
  const client = ApiClient.of(values, io);
  await waitFor(client, called, condition, values.timeout);
  io.stdout.write(`${called.shown} is ${condition.shown}\n`);
  return 0;
}
