import { DEFAULT_WORKSPACE } from '../../control/resources/resource.js';
import type { Resources } from '../../store/resources/resources.js';
import type { LabUploads } from '../../twin/lab/lab-uploads.js';

/** Uploads go with their workspace, also with one that was deleted while this process did not run. Returns what ends it. */
export async function followWorkspaces(
  resources: Pick<Resources, 'list' | 'watch'>,
  uploads: Pick<LabUploads, 'deleteOf' | 'keepOnly'>,
): Promise<() => void> {
  const stop = resources.watch((changes) => {
    for (const { record, type } of changes) {
      if (type === 'removed' && record.kind === 'Workspace') uploads.deleteOf(record.name);
    }
  });
  const present = await resources.list({ kind: 'Workspace' });
  uploads.keepOnly([DEFAULT_WORKSPACE, ...present.map(({ name }) => name)]);
  return stop;
}
