import type { Resource } from '../../control/resources/resource.js';
import { ApiClient } from '../api/api-client.js';
import { workspaceFor } from '../api/find-server.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { printChange } from '../control/change/print-change.js';
import { calledResource } from '../control/targets/called-resource.js';
import { kindList } from '../control/targets/kind-list.js';
import type { CommandLine } from '../flags/command-line.js';
import { count, toggle } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { rolloutSummaryOf } from '../rollout.js';

const undoFlags = {
  'to-revision': count({
    default: null,
    min: 1,
    help: "a revision of 'rollout history'",
  }),
  'dry-run': toggle({ help: 'print the changes without making them' }),
  ...workspaceFlags,
};

export const ROLLOUT_UNDO: CommandLine = {
  name: 'rollout undo',
  summary: rolloutSummaryOf('undo'),
  about:
    'Restores the spec of the revision before the current one, or of --to-revision, with the secrets that it had; labels stay. The ' +
    'result is a new revision: a second undo returns to the present one. It is checked as by apply, and needs the same role.',
  operands: { usage: 'KIND/NAME', least: 1, most: 2 },
  groups: [
    { title: 'Resource', flags: undoFlags },
    { title: 'Server', flags: serverFlags },
  ],
  more: kindList,
  examples: ['rollout undo ep/chat --dry-run', 'rollout undo ep/chat --to-revision 1'],
};

/** Restores an earlier revision. */
export async function rolloutUndo(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof undoFlags & typeof serverFlags>(ROLLOUT_UNDO, argv);
  const called = await calledResource(operands, workspaceFor(values, io), ROLLOUT_UNDO);
  const client = ApiClient.of(values, io);
  const revision = values['to-revision'];
  const before = await client.call<Resource>('GET', called.path);
  const after = await client.call<Resource>('POST', `${called.path}/rollback`, {
    query: { dry_run: String(values['dry-run']) },
    body: JSON.stringify(revision === null ? {} : { revision }),
  });
  printChange(called, before, after, values['dry-run'], io);
  return 0;
}
