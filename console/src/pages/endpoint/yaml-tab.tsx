import { useMay } from '../../api/access';
import { useGet } from '../../api/queries';
import type { Resource } from '../../api/types';
import { ResourceEditor } from '../../parts/editor/resource-editor';
import { useKindSchema } from '../../parts/editor/use-kind-schema';
import { Failure, Loading } from '../../parts/states';

/** The desired state of the endpoint as a form and as YAML. */
export function YamlTab({ base, workspace }: { readonly workspace: string; readonly base: string }) {
  const { data, error, refetch } = useGet<Resource>(base, { everyMs: 2000 });
  const kind = useKindSchema('endpoints');
  const mayChange = useMay('operator', workspace);
  const failure = error ?? kind.error;
  if (data === undefined || kind.data === undefined) {
    return failure === null ? <Loading /> : <Failure error={failure} onRetry={() => void refetch()} />;
  }
  return <ResourceEditor kind={kind.data} resource={data} workspace={workspace} mayChange={mayChange} />;
}
