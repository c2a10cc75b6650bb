import type { ApiClient } from '../../api/api-client.js';
import { conflictingFlags } from '../../errors.js';
import type { CommandLine } from '../../flags/command-line.js';
import type { FlagValues } from '../../flags/flag.js';
import { stringFlag, toggle } from '../../flags/kinds.js';
import { type CalledResource, calledNames, calledResources, resourceAt } from './called-resource.js';
import { listResources } from './watch-resources.js';

export const selectorFlags = {
  selector: {
    ...stringFlag({
      default: null,
      placeholder: 'labels',
      help: "only resources with these labels: 'a=b,c!=d,e,!f,g in (h,i)'",
    }),
    letter: 'l',
  },
};

/** For commands that work on some resources of a kind without their names. */
export const selectionFlags = {
  ...selectorFlags,
  all: toggle({ help: 'all resources of the kind in the workspace' }),
};

/** The resources that a command names, at least one; or those of the named kinds that labels or --all select, if any. */
export async function selectedResources(
  client: ApiClient,
  operands: readonly string[],
  workspace: string,
  { all, selector }: FlagValues<typeof selectionFlags>['values'],
  line: Pick<CommandLine, 'name' | 'operands'>,
): Promise<CalledResource[]> {
  if (selector === null && !all) return calledResources(operands, workspace, line);
  const called = await calledNames(operands);
  if (called.some(({ names }) => names.length > 0)) {
    throw conflictingFlags(all ? '--all' : '--selector', 'is given together with a name', 'keep one of them');
  }
  const found: CalledResource[] = [];
  for (const { kind } of called) {
    const { items } = await listResources(client, { kind, workspace, name: null, labels: selector });
    found.push(...items.map(({ metadata }) => resourceAt(kind, metadata.name, workspace)));
  }
  return found;
}
