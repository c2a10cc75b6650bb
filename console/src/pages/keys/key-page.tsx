import { getRouteApi, Link } from '@tanstack/react-router';
import { useMay } from '../../api/access';
import { pathOf } from '../../api/client';
import { useGet } from '../../api/queries';
import { Card, PageHead } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { inWorkspace, quoted } from '../../parts/commands';
import { DeleteButton } from '../../parts/delete-button';
import { ResourceEditor } from '../../parts/editor/resource-editor';
import { useKindSchema } from '../../parts/editor/use-kind-schema';
import { EventList } from '../../parts/event-list';
import { Phase } from '../../parts/phase';
import { Failure, Loading } from '../../parts/states';
import { Time } from '../../parts/time';
import { KeyActions } from './key-actions';
import type { KeyResource } from './key-list';
import { LimitList } from './limit-list';

const route = getRouteApi('/keys/$name');

/** One API key: what it may use, what is used of it, and its settings as a form. */
export function KeyPage() {
  const { name } = route.useParams();
  const { workspace = 'default' } = route.useSearch();
  const navigate = route.useNavigate();
  const base = `workspaces/${pathOf(workspace, 'apikeys', name)}`;
  const { data, error, refetch } = useGet<KeyResource>(base, { everyMs: 3000 });
  const kind = useKindSchema('apikeys');
  const mayChange = useMay('admin', workspace);
  const failure = error ?? kind.error;
  if (data === undefined || kind.data === undefined) {
    return failure === null ? <Loading /> : <Failure error={failure} onRetry={() => void refetch()} />;
  }
  const { metadata, spec, status } = data;
  const isRevoked = status?.phase === 'Revoked';
  return (
    <>
      <PageHead
        title={
          <>
            <Link to="/keys" search={{ workspace }} className="muted">
              API keys
            </Link>
            <span className="muted"> / {workspace} / </span>
            {name}
          </>
        }
        actions={
          <>
            <Link to="/requests" search={{ workspace, key: metadata.uid }} className="button">
              Requests
            </Link>
            <Link to="/keys" search={{ workspace, tab: 'usage', key: metadata.uid }} className="button">
              Usage
            </Link>
            {mayChange && !isRevoked ? <KeyActions name={name} workspace={workspace} look="plain" /> : null}
            {mayChange ? (
              <DeleteButton
                resource={data}
                base={base}
                plural="apikeys"
                onDeleted={() => void navigate({ to: '/keys', search: { workspace } })}
              />
            ) : null}
          </>
        }
      />
      {error === null ? null : <Failure error={error} />}
      <Card title="Key">
        <dl className="facts facts-wide">
          <Fact name="State" value={<Phase phase={status?.phase ?? 'Pending'} />} />
          <Fact name="Role" value={spec.role ?? 'none'} />
          <Fact
            name="Secret"
            value={<code>{status?.hint === undefined ? 'none yet' : `…${String(status.hint)}`}</code>}
          />
          <Fact name="Models" value={spec.models?.join(', ') ?? 'all'} />
          <Fact name="Tenant" value={spec.tenant ?? name} />
          <Fact name="Expires" value={spec.expires_at === undefined ? 'never' : <Time at={spec.expires_at} />} />
          <Fact name="Id in usage and logs" value={<code>{metadata.uid}</code>} />
        </dl>
      </Card>
      <LimitList path={`${base}/limits`} />
      <ResourceEditor kind={kind.data} resource={data} workspace={workspace} mayChange={mayChange && !isRevoked} />
      <EventList kind="ApiKey" name={name} workspace={workspace} />
      <AsCommand
        commands={[
          `twinyard keys show ${quoted(name)}${inWorkspace(workspace)}`,
          `twinyard keys usage --workspace ${quoted(workspace)} --key ${quoted(name)}`,
        ]}
        calls={[`${base}/limits`]}
      />
    </>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
