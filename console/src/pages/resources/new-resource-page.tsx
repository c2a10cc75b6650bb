import { getRouteApi, Link } from '@tanstack/react-router';
import { useMay } from '../../api/access';
import { useSession } from '../../api/queries';
import { PageHead } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { ResourceEditor } from '../../parts/editor/resource-editor';
import { useKindSchema } from '../../parts/editor/use-kind-schema';
import { ownWorkspace } from '../../parts/own-workspace';
import { Failure, Loading } from '../../parts/states';

const route = getRouteApi('/resources/new/$kind');

/** A new resource of a kind, from its example. */
export function NewResourcePage() {
  const { kind: plural } = route.useParams();
  const { data: session } = useSession();
  const navigate = route.useNavigate();
  const { data, error } = useKindSchema(plural);
  const role = data?.changed_by ?? 'admin';
  const { workspace = ownWorkspace(session, role) } = route.useSearch();
  const mayChange = useMay(role, data?.scope === 'global' ? undefined : workspace) && session?.has_control === true;
  if (data === undefined) return error === null ? <Loading /> : <Failure error={error} />;
  return (
    <>
      <PageHead
        title={
          <>
            <Link to="/resources" search={{ kind: plural }} className="muted">
              {data.kind}
            </Link>
            <span className="muted"> / </span>
            new
          </>
        }
        about={data.summary}
      />
      <ResourceEditor
        kind={data}
        resource={null}
        workspace={workspace}
        mayChange={mayChange}
        onApplied={({ metadata: { name, workspace: own } }) =>
          void navigate(
            data.kind === 'Endpoint'
              ? { to: '/endpoints/$workspace/$name', params: { workspace: own ?? 'default', name } }
              : { to: '/resources/$kind/$name', params: { kind: plural, name }, search: { workspace: own } },
          )
        }
      />
      <AsCommand
        commands={['twinyard apply -f FILE.yaml --dry-run', 'twinyard apply -f FILE.yaml']}
        calls={[`kinds/${plural}`]}
      />
    </>
  );
}
