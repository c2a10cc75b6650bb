import { getRouteApi, Link } from '@tanstack/react-router';
import { useMay } from '../../api/access';
import { pathOf } from '../../api/client';
import { useGet, useSession } from '../../api/queries';
import type { Resource } from '../../api/types';
import { PageHead } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { inWorkspace, quoted } from '../../parts/commands';
import { DeleteButton } from '../../parts/delete-button';
import { ResourceEditor } from '../../parts/editor/resource-editor';
import { useKindSchema } from '../../parts/editor/use-kind-schema';
import { EventList } from '../../parts/event-list';
import { Revisions } from '../../parts/revisions';
import { Failure, Loading } from '../../parts/states';
import { ResourceStatus } from './resource-status';

const route = getRouteApi('/resources/$kind/$name');

const TABS = [
  ['status', 'Status'],
  ['edit', 'Edit'],
  ['events', 'Events'],
  ['revisions', 'Revisions'],
] as const;

/** One resource: what was observed, what is desired, what happened. */
export function ResourcePage() {
  const { kind: plural, name } = route.useParams();
  const { tab = 'status', workspace } = route.useSearch();
  const navigate = route.useNavigate();
  const kind = useKindSchema(plural);
  const isGlobal = kind.data?.scope === 'global';
  const where = isGlobal ? undefined : (workspace ?? 'default');
  const base = where === undefined ? pathOf(plural, name) : `workspaces/${pathOf(where, plural, name)}`;
  const { data, error, refetch } = useGet<Resource>(kind.data === undefined ? null : base, { everyMs: 2000 });
  const { data: session } = useSession();
  const mayChange = useMay(kind.data?.changed_by ?? 'admin', where) && session?.has_control === true;
  const failure = error ?? kind.error;
  if (data === undefined || kind.data === undefined) {
    return failure === null ? <Loading /> : <Failure error={failure} onRetry={() => void refetch()} />;
  }
  return (
    <>
      <PageHead
        title={
          <>
            <Link to="/resources" search={{ kind: plural }} className="muted">
              {kind.data.kind}
            </Link>
            <span className="muted"> / {where === undefined ? '' : `${where} / `}</span>
            {name}
          </>
        }
        about={kind.data.summary}
        actions={
          mayChange ? (
            <DeleteButton
              resource={data}
              base={base}
              plural={plural}
              onDeleted={() => void navigate({ to: '/resources', search: { kind: plural } })}
            />
          ) : null
        }
      />
      {error === null ? null : <Failure error={error} />}
      <nav className="tabs" aria-label="Parts of the resource">
        {TABS.filter(([value]) => value !== 'edit' || session?.has_control === true).map(([value, label]) => (
          <Link
            key={value}
            to="/resources/$kind/$name"
            params={{ kind: plural, name }}
            search={{ workspace: where, tab: value === 'status' ? undefined : value }}
            className="tab"
            aria-current={value === tab ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      {tab === 'status' ? <ResourceStatus resource={data} /> : null}
      {tab === 'edit' ? (
        <ResourceEditor kind={kind.data} resource={data} workspace={where ?? 'default'} mayChange={mayChange} />
      ) : null}
      {tab === 'events' ? <EventList kind={data.kind} name={name} workspace={where} /> : null}
      {tab === 'revisions' ? <Revisions base={base} resource={data} mayChange={mayChange} /> : null}
      <AsCommand
        commands={[
          `twinyard describe ${quoted(plural)}/${quoted(name)}${inWorkspace(where)}`,
          `twinyard get ${quoted(plural)}/${quoted(name)}${inWorkspace(where)} -o yaml`,
        ]}
        calls={[base]}
      />
    </>
  );
}
