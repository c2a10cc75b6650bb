import type { Resource } from '../../control/resources/resource.js';
import { ApiClient } from '../api/api-client.js';
import { workspaceFor } from '../api/find-server.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { calledEndpoint } from '../control/targets/called-resource.js';
import type { WaitCondition } from '../control/targets/wait-condition.js';
import { conditionAfter } from '../control/targets/wait-condition.js';
import { timeoutFlags, waitFor } from '../control/targets/wait-for.js';
import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { rolloutSummaryOf } from '../rollout.js';

const statusFlags = { ...timeoutFlags, ...workspaceFlags };

export const ROLLOUT_STATUS: CommandLine = {
  name: 'rollout status',
  summary: rolloutSummaryOf('status'),
  about:
    'Prints a line whenever the number of updated or ready replicas changes. It ends with 0 when the update is complete, and with 1 ' +
    "when it failed or the time is over; '--timeout 0' checks once.",
  operands: { usage: 'endpoint/NAME', least: 1, most: 2 },
  groups: [
    { title: 'Endpoint', flags: statusFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: ['rollout status ep/chat', 'rollout status ep/chat --timeout 30m'],
};

/** Waits for the update of an endpoint and prints its progress. */
export async function rolloutStatus(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof statusFlags & typeof serverFlags>(ROLLOUT_STATUS, argv);
  const called = await calledEndpoint(operands, workspaceFor(values, io), ROLLOUT_STATUS);
  const client = ApiClient.of(values, io);
  const ready = conditionAfter(called.kind)!;
  let last = '';
  const condition: WaitCondition = {
    shown: 'rolled out',
    isLost: (now) => ready.isLost(now),
    isMet(now) {
      if (now === null || ready.isMet(now)) return now !== null;
      const line = progressOf(now);
      if (line !== last) io.stdout.write(`${called.shown}: ${line}\n`);
      last = line;
      return false;
    },
  };
  await waitFor(client, called, condition, values.timeout);
  io.stdout.write(`${called.shown} is rolled out\n`);
  return 0;
}

function progressOf({ metadata, spec, status }: Resource): string {
  const generation = metadata.generation ?? 0;
  if (status === undefined || status.observed_generation < generation) return 'waiting for the control plane';
  const replicas = (status.replicas ?? []) as readonly { readonly generation: number }[];
  const updated = replicas.filter((one) => one.generation === generation).length;
  return `${updated} of ${spec.replicas} replicas are updated, ${status.ready ?? 0} are ready`;
}
