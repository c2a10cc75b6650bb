import { ApiClient } from '../api/api-client.js';
import { workspaceFor } from '../api/find-server.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import { missingFlag } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { stringFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { calledEndpoint } from './targets/called-resource.js';

const drainFlags = {
  replica: stringFlag({ default: null, placeholder: 'id', help: "one of its replicas, as 'describe' prints them" }),
  ...workspaceFlags,
};

export const DRAIN: CommandLine = {
  name: 'drain',
  summary: summaryOf('drain'),
  about:
    'The replica gets no new requests, finishes those under way and stops. The control plane first starts another one in its place, ' +
    'unless deployment.max_unavailable allows one less meanwhile. A replica of the configuration file leaves its endpoint and is not ' +
    'replaced; its engine keeps running.',
  operands: { usage: 'endpoint/NAME', least: 1, most: 2 },
  groups: [
    { title: 'Endpoint', flags: drainFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: ['drain ep/chat --replica chat-1a2b3c4d'],
};

/** Lets a replica finish its requests and leave. */
export async function drainReplicaCommand(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof drainFlags & typeof serverFlags>(DRAIN, argv);
  const { replica } = values;
  if (replica === null) throw missingFlag('--replica', 'is required', 'give the id of a replica');
  const { path } = await calledEndpoint(operands, workspaceFor(values, io), DRAIN);
  const client = ApiClient.of(values, io);
  const { active } = await client.call<{ active: number }>(
    'POST',
    `${path}/replicas/${encodeURIComponent(replica)}/drain`,
  );
  io.stdout.write(`replica ${replica} is leaving; it has ${active} ${active === 1 ? 'request' : 'requests'}\n`);
  return 0;
}
