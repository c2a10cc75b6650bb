import { useState } from 'react';
import { stringify } from 'yaml';
import { useMay } from '../../api/access';
import { withQuery } from '../../api/client';
import { useChange, useGet } from '../../api/queries';
import type { Resource } from '../../api/types';
import { Button, Card } from '../../parts/basics';
import { Dialog } from '../../parts/dialog';
import { type Difference, Differences } from '../../parts/differences';
import { Failure, Loading } from '../../parts/states';

interface Applied {
  readonly items: readonly { readonly action: string; readonly differences: readonly Difference[] }[];
}

/** The resource as a file: what `twinyard get --format yaml` prints, to be changed and applied. */
function fileOf({ apiVersion, kind, metadata, spec }: Resource): string {
  const { labels, name, workspace } = metadata;
  return stringify({
    apiVersion,
    kind,
    metadata: { name, workspace, ...(labels === undefined ? {} : { labels }) },
    spec,
  });
}

export function YamlTab({ base, workspace }: { readonly workspace: string; readonly base: string }) {
  const { data, error, refetch } = useGet<Resource>(base);
  const mayChange = useMay('operator', workspace);
  if (data === undefined) {
    return error === null ? <Loading /> : <Failure error={error} onRetry={() => void refetch()} />;
  }
  return <Editor key={data.metadata.resource_version} resource={data} workspace={workspace} mayChange={mayChange} />;
}

function Editor({ mayChange, resource, workspace }: { resource: Resource; workspace: string; mayChange: boolean }) {
  const given = fileOf(resource);
  const [text, setText] = useState(given);
  const [plan, setPlan] = useState<Applied | null>(null);
  const preview = useChange<Applied>();
  const apply = useChange<Applied>();
  const request = (isDry: boolean) => ({
    method: 'POST' as const,
    path: withQuery('apply', { workspace, dry_run: isDry ? true : undefined }),
    text: { content: text, type: 'application/yaml' },
  });
  return (
    <Card title="Desired state">
      <div className="form padded">
        <label className="field">
          <span>YAML{mayChange ? '' : ' (read only: a change needs the role operator)'}</span>
          <textarea
            rows={Math.min(40, text.split('\n').length + 2)}
            spellCheck={false}
            readOnly={!mayChange}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </label>
        {preview.error === null ? null : <Failure error={preview.error} />}
        {mayChange ? (
          <div className="dialog-actions">
            <Button onClick={() => setText(given)} disabled={text === given}>
              Reset
            </Button>
            <Button
              look="primary"
              disabled={text === given || preview.isPending}
              onClick={() => preview.mutate(request(true), { onSuccess: setPlan })}
            >
              Preview the change
            </Button>
          </div>
        ) : null}
      </div>
      <Dialog title="Apply" isOpen={plan !== null} onClose={() => setPlan(null)}>
        <Differences items={plan?.items.flatMap(({ differences }) => differences) ?? []} />
        {apply.error === null ? null : <Failure error={apply.error} />}
        <div className="dialog-actions">
          <Button onClick={() => setPlan(null)}>Cancel</Button>
          <Button
            look="primary"
            disabled={apply.isPending}
            onClick={() => apply.mutate(request(false), { onSuccess: () => setPlan(null) })}
          >
            Apply
          </Button>
        </div>
      </Dialog>
    </Card>
  );
}
