import type { ShadowView } from '../../api/views/shadow-views.js';
import { ApiClient } from '../api/api-client.js';
import { serverFlags } from '../api/server-flags.js';
import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { shadowSummaryOf } from './shadow.js';
import { endpointFlags, shadowsOf } from './shadow-flags.js';

export const SHADOW_REMOVE: CommandLine = {
  name: 'shadow remove',
  summary: shadowSummaryOf('remove'),
  about:
    "Removes a shadow of 'twinyard shadow add' with what it found. One that is in the configuration is removed there: in " +
    "twinyard.yaml, or under 'shadow' in the spec of a declared endpoint.",
  operands: { usage: 'NAME', least: 1, most: 1 },
  groups: [
    { title: 'Endpoint', flags: endpointFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: ['shadow remove lmetric', 'shadow remove lmetric --endpoint chat --workspace search'],
};

export async function removeShadow(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof endpointFlags & typeof serverFlags>(SHADOW_REMOVE, argv);
  const { path, shown } = shadowsOf(values, io);
  const name = operands[0]!;
  const removed = await ApiClient.of(values, io).call<ShadowView>('DELETE', `${path}/${encodeURIComponent(name)}`);
  io.stdout.write(`shadow ${removed.name} (${removed.policy}) removed from ${shown}\n`);
  return 0;
}
