import type { Resource } from '../../control/resources/resource.js';
import { InputError } from '../../kernel/errors.js';
import { ApiClient } from '../api/api-client.js';
import { workspaceFor } from '../api/find-server.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import { missingFlag } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { count } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { onlyEndpoints } from './errors.js';
import { type CalledResource, MOST_NAMES } from './targets/called-resource.js';
import { selectedResources, selectionFlags } from './targets/selected-resources.js';

const scaleFlags = {
  replicas: count({ default: null, max: 1000, help: 'number of replicas; 0 pauses the endpoint' }),
  ...selectionFlags,
  ...workspaceFlags,
};

export const SCALE: CommandLine = {
  name: 'scale',
  summary: summaryOf('scale'),
  about:
    'Sets spec.replicas and leaves the rest of the endpoint as it is. Replicas that are removed finish their requests first.',
  operands: { usage: 'endpoint/NAME...', least: 1, most: MOST_NAMES + 1 },
  groups: [
    { title: 'Endpoint', flags: scaleFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: ['scale ep/chat --replicas 5', 'scale endpoint chat --replicas 0', 'scale ep -l team=search --replicas 0'],
};

/** Changes the number of replicas and nothing else. */
export async function scale(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof scaleFlags & typeof serverFlags>(SCALE, argv);
  const { replicas } = values;
  if (replicas === null) throw missingFlag('--replicas', 'is required', 'give the number of replicas');
  const client = ApiClient.of(values, io);
  const called = await selectedResources(client, operands, workspaceFor(values, io), values, SCALE);
  const other = called.find(({ kind }) => kind.kind !== 'Endpoint');
  if (other !== undefined) throw onlyEndpoints(other.kind.plural);
  if (called.length === 0) io.stderr.write('twinyard: no resources were selected\n');
  for (const one of called) await scaleOne(client, one, replicas, io);
  return 0;
}

async function scaleOne(
  client: ApiClient,
  { path, shown }: CalledResource,
  replicas: number,
  { stdout }: CliIo,
): Promise<void> {
  const before = await client.call<Resource>('GET', path).catch((error: unknown) => {
    // A caller that may not read the resource gets the error of the change itself.
    if (!(error instanceof InputError) || error.code !== 'SERVER_FORBIDDEN') throw error;
    return null;
  });
  await client.call<Resource>('PUT', `${path}/scale`, { body: JSON.stringify({ replicas }) });
  const was = before?.spec.replicas;
  stdout.write(`${shown} ${was === replicas ? 'unchanged' : 'changed'}\n`);
  if (was !== replicas) stdout.write(`  spec.replicas: ${was} -> ${replicas}\n`);
}
