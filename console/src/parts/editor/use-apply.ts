import { type ApiFailure, pathOf, withQuery } from '../../api/client';
import { useChange } from '../../api/queries';
import type { Resource } from '../../api/types';
import type { Difference } from '../differences';
import type { KindSchema } from './use-kind-schema';
import { changedText } from './yaml-draft';

/** What applying would do, or has done. */
export interface Applied {
  readonly items: readonly {
    readonly action: 'created' | 'changed' | 'unchanged';
    readonly differences: readonly Difference[];
    readonly resource: Resource;
  }[];
}

/** Preview and change of one resource. A change is refused when another one came first. @param version that it is for */
export function useApply(workspace: string, kind: KindSchema, resource: Resource | null, version: number | undefined) {
  const preview = useChange<Applied>();
  const change = useChange<Applied | Resource>();
  const yaml = (text: string) => ({
    content: version === undefined ? text : changedText(text, ['metadata', 'resource_version'], version),
    type: 'application/yaml',
  });
  const collection = kind.scope === 'global' ? kind.plural : `workspaces/${pathOf(workspace, kind.plural)}`;
  const failed = (_: ApiFailure) => null;
  return {
    isBusy: preview.isPending || change.isPending,
    previewError: preview.error,
    applyError: change.error,
    reset() {
      preview.reset();
      change.reset();
    },
    /** What would change; null when it cannot be applied. */
    preview: (text: string) =>
      preview
        .mutateAsync({
          method: 'POST',
          path: withQuery('apply', { workspace, dry_run: true, file: 'YAML' }),
          text: yaml(text),
        })
        .catch(failed),
    /** The resource as it is now; null when it was refused. */
    async apply(text: string): Promise<Resource | null> {
      const path = resource === null ? collection : withQuery('apply', { workspace, file: 'YAML' });
      const done = await change.mutateAsync({ method: 'POST', path, text: yaml(text) }).catch(failed);
      if (done === null) return null;
      return 'items' in done ? done.items[0]!.resource : done;
    },
  };
}
