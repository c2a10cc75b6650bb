import { ApiClient } from '../api/api-client.js';
import { workspaceFor } from '../api/find-server.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import { missingFlag } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { stringFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { noneSelected } from './errors.js';
import { MOST_NAMES } from './targets/called-resource.js';
import { kindList } from './targets/kind-list.js';
import { selectedResources, selectionFlags } from './targets/selected-resources.js';
import { readWaitCondition, WAIT_CONDITIONS } from './targets/wait-condition.js';
import { timeoutFlags, waitFor } from './targets/wait-for.js';

const waitFlags = {
  for: stringFlag({
    default: null,
    placeholder: 'condition',
    help: WAIT_CONDITIONS,
  }),
  ...timeoutFlags,
  ...selectionFlags,
  ...workspaceFlags,
};

export const WAIT: CommandLine = {
  name: 'wait',
  summary: summaryOf('wait'),
  about:
    'Use it in scripts, after apply or delete. It ends with 0 once the condition holds, and with 1 when the resource fails or the ' +
    'time is over; a restart of the server in between does not end it. The time is for all resources together.',
  operands: { usage: 'KIND/NAME...', least: 1, most: MOST_NAMES + 1 },
  groups: [
    { title: 'Resource', flags: waitFlags },
    { title: 'Server', flags: serverFlags },
  ],
  more: kindList,
  examples: [
    'wait ep/chat --for condition=Ready',
    "wait ep/chat --for 'jsonpath={.status.phase}=Running'",
    'wait endpoint chat --for phase=Running --timeout 30m',
    'wait ep --all --for condition=Ready',
  ],
};

/** Ends with 0 when the condition holds, and with 1 when the time is over. */
export async function wait(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof waitFlags & typeof serverFlags>(WAIT, argv);
  const client = ApiClient.of(values, io);
  const called = await selectedResources(client, operands, workspaceFor(values, io), values, WAIT);
  if (values.for === null) throw missingFlag('--for', 'is required', "give a condition, as in '--for ready'");
  if (called.length === 0) throw noneSelected();
  const conditions = called.map(({ kind }) => readWaitCondition(values.for!, kind, '--for'));
  const start = io.now();
  for (const [i, one] of called.entries()) {
    const condition = conditions[i]!;
    // Whole milliseconds, as timers take them, and at least one: 0 is for checks without waiting.
    const left = values.timeout === 0 ? 0 : Math.max(1, Math.ceil(values.timeout - (io.now() - start)));
    await waitFor(client, one, condition, left);
    io.stdout.write(`${one.shown} is ${condition.shown}\n`);
  }
  return 0;
}
