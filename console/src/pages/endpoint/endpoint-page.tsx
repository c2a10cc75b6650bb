import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useMay } from '../../api/access';
import { ApiFailure, pathOf } from '../../api/client';
import { useGet, useSession } from '../../api/queries';
import type { LiveEndpoint, Resource } from '../../api/types';
import { PageHead } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { DeleteButton } from '../../parts/delete-button';
import { Phase } from '../../parts/phase';
import { Failure, Loading } from '../../parts/states';
import type { EndpointTab } from '../../shell/router';
import { PauseButton } from './actions/pause-button';
import { ScaleButton } from './actions/scale-button';
import { commandsOf } from './endpoint-commands';
import { EndpointStats } from './endpoint-stats';
import { ReplicaTab } from './replica-tab';

const LogTab = lazy(async () => ({ default: (await import('./log-tab')).LogTab }));
const EventList = lazy(async () => ({ default: (await import('../../parts/event-list')).EventList }));
const PolicyTab = lazy(async () => ({ default: (await import('./policy-tab')).PolicyTab }));
const RolloutTab = lazy(async () => ({ default: (await import('./rollout-tab')).RolloutTab }));
const ShadowTab = lazy(async () => ({ default: (await import('./shadow-tab')).ShadowTab }));
const YamlTab = lazy(async () => ({ default: (await import('./yaml-tab')).YamlTab }));

const route = getRouteApi('/endpoints/$workspace/$name');

const NO_LOGS = new ApiFailure(
  403,
  'API_FORBIDDEN',
  'logs need the role operator, because engines may log prompts',
  'log in with a key that has it',
);

const NAMES: Record<EndpointTab, string> = {
  replicas: 'Replicas',
  rollout: 'Rollout',
  policy: 'Policy',
  shadows: 'Shadows',
  events: 'Events',
  logs: 'Logs',
  yaml: 'YAML',
};
/** An endpoint of the configuration file has neither a resource nor processes of its own. */
const OF_FILE: readonly EndpointTab[] = ['replicas', 'policy', 'shadows', 'events'];
const MANAGED: readonly EndpointTab[] = ['replicas', 'rollout', 'policy', 'shadows', 'events', 'logs', 'yaml'];
/** One that is declared, and that the gateway does not serve. */
const UNSERVED: readonly EndpointTab[] = ['rollout', 'events', 'logs', 'yaml'];

export function EndpointPage() {
  const { name, workspace } = route.useParams();
  const { previous, replica, tab: asked } = route.useSearch();
  const navigate = route.useNavigate();
  const base = `workspaces/${pathOf(workspace, 'endpoints', name)}`;
  const live = useGet<LiveEndpoint>(`${base}/live`, { everyMs: 2000 });
  const mayChange = useMay('operator', workspace);
  const { data: session } = useSession();
  // One that was just created, is refused or was never started is known to the control plane only.
  const isUnserved = live.error?.status === 404;
  const endpoint = isUnserved ? undefined : live.data;
  const isManaged = isUnserved || endpoint?.source === 'control-plane';
  const { data: resource, error: unknown } = useGet<Resource>(isManaged ? base : null, { everyMs: 2000 });
  if (endpoint === undefined && (resource === undefined || unknown !== null)) {
    return live.error === null || (isUnserved && unknown === null) ? (
      <Loading />
    ) : (
      <Failure error={live.error} onRetry={() => void live.refetch()} />
    );
  }
  const isOffered = (one: EndpointTab) =>
    one === 'logs' ? mayChange : one !== 'events' || session?.has_store === true;
  const all = isUnserved ? UNSERVED : isManaged ? MANAGED : OF_FILE;
  const tab = isUnserved && (asked === undefined || !UNSERVED.includes(asked)) ? 'rollout' : (asked ?? 'replicas');
  return (
    <>
      <PageHead
        title={
          <>
            <Link to="/" className="muted">
              {workspace}
            </Link>
            <span className="muted"> / </span>
            {name}
          </>
        }
        about={endpoint === undefined ? 'run by the control plane, not served by this gateway now' : aboutOf(endpoint)}
        actions={
          <>
            <Link to="/requests" search={{ endpoint: name, workspace }} className="button">
              Requests
            </Link>
            {isManaged ? (
              <>
                <ScaleButton workspace={workspace} name={name} base={base} />
                <PauseButton workspace={workspace} name={name} base={base} />
                {mayChange && resource !== undefined ? (
                  <DeleteButton
                    resource={resource}
                    base={base}
                    plural="endpoints"
                    onDeleted={() => void navigate({ to: '/' })}
                  />
                ) : null}
              </>
            ) : null}
          </>
        }
      />
      {live.error === null || isUnserved ? null : <Failure error={live.error} />}
      {endpoint === undefined ? (
        <p className="lead" role="status">
          <Phase phase={resource?.status?.phase ?? 'Pending'} /> {resource?.status?.message}
        </p>
      ) : (
        <EndpointStats endpoint={endpoint} />
      )}
      <nav className="tabs" aria-label="Parts of the endpoint">
        {all.filter(isOffered).map((one) => (
          <Link
            key={one}
            to="/endpoints/$workspace/$name"
            params={{ workspace, name }}
            search={one === 'replicas' ? {} : { tab: one }}
            className="tab"
            activeOptions={{ exact: true, includeSearch: true }}
            aria-current={one === tab ? 'page' : undefined}
          >
            {NAMES[one]}
          </Link>
        ))}
      </nav>
      <Suspense fallback={<Loading />}>
        {tab === 'replicas' ? <ReplicaTab workspace={workspace} name={name} base={base} isOfFile={!isManaged} /> : null}
        {tab === 'rollout' ? <RolloutTab workspace={workspace} base={base} /> : null}
        {tab === 'policy' && endpoint !== undefined ? <PolicyTab endpoint={endpoint} base={base} /> : null}
        {tab === 'shadows' && endpoint !== undefined ? <ShadowTab endpoint={endpoint} base={base} /> : null}
        {tab === 'events' ? <EventList kind="Endpoint" workspace={workspace} name={name} /> : null}
        {tab === 'logs' ? mayChange ? <LogTab base={base} /> : <Failure error={NO_LOGS} /> : null}
        {tab === 'yaml' ? <YamlTab workspace={workspace} base={base} /> : null}
      </Suspense>
      <AsCommand {...commandsOf(tab, { workspace, name, base, replica, previous })} />
    </>
  );
}

function aboutOf({ models, policy, source }: LiveEndpoint): string {
  return [
    policy.routing?.policy ?? 'no policy',
    models.join(', ') || 'no model yet',
    source === 'file' ? 'defined in the configuration file' : 'run by the control plane',
  ].join(' · ');
}
