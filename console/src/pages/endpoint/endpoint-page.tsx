import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useMay } from '../../api/access';
import { ApiFailure, pathOf, withQuery } from '../../api/client';
import { useLive } from '../../api/live';
import { useGet, useSession } from '../../api/queries';
import type { LiveEndpoint } from '../../api/types';
import { PageHead } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { inWorkspace, quoted } from '../../parts/commands';
import { milliseconds, percent, short, whole } from '../../parts/format';
import { Stat, Stats } from '../../parts/stat';
import { Failure, Loading } from '../../parts/states';
import type { EndpointTab } from '../../shell/router';
import { PauseButton } from './pause-button';
import { ReplicaTab } from './replica-tab';
import { ScaleButton } from './scale-button';

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

export function EndpointPage() {
  const { name, workspace } = route.useParams();
  const { tab = 'replicas' } = route.useSearch();
  const base = `workspaces/${pathOf(workspace, 'endpoints', name)}`;
  const { data: endpoint, error, refetch } = useGet<LiveEndpoint>(`${base}/live`, { everyMs: 2000 });
  const rates = useLive(({ traffic }) => traffic)?.items.find(
    (one) => one.name === name && one.workspace === workspace,
  );
  const mayLog = useMay('operator', workspace);
  const { data: session } = useSession();
  if (endpoint === undefined) {
    return error === null ? <Loading /> : <Failure error={error} onRetry={() => void refetch()} />;
  }
  const { models, policy, source } = endpoint;
  const isOffered = (one: EndpointTab) => (one === 'logs' ? mayLog : one !== 'events' || session?.has_store === true);
  const tabs = (source === 'file' ? OF_FILE : MANAGED).filter(isOffered);
  const facts = [
    policy.routing?.policy ?? 'no policy',
    models.join(', ') || 'no model yet',
    source === 'file' ? 'defined in the configuration file' : 'run by the control plane',
  ];
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
        about={facts.join(' · ')}
        actions={
          <>
            <Link to="/requests" search={{ endpoint: name, workspace }} className="button">
              Requests
            </Link>
            {source === 'file' ? null : (
              <>
                <ScaleButton workspace={workspace} name={name} base={base} />
                <PauseButton workspace={workspace} name={name} base={base} />
              </>
            )}
          </>
        }
      />
      {error === null ? null : <Failure error={error} />}
      <Stats>
        <Stat name="Requests" value={short(rates?.requests_per_s ?? 0)} exact={rates?.requests_per_s ?? 0} unit="/s" />
        <Stat
          name="Output tokens"
          value={short(rates?.output_tokens_per_s ?? 0)}
          exact={rates?.output_tokens_per_s ?? 0}
          unit="/s"
        />
        <Stat
          name="First token, median"
          value={milliseconds(rates?.ttft_p50_ms ?? null)}
          exact={rates?.ttft_p50_ms}
          note={`p95 ${milliseconds(rates?.ttft_p95_ms ?? null)}`}
        />
        <Stat
          name="In flight"
          value={whole(endpoint.in_flight)}
          exact={endpoint.in_flight}
          note={`${queuedIn(endpoint)} queued`}
        />
        <Stat name="KV cache used" value={percent(rates?.kv_used ?? null)} exact={rates?.kv_used} />
        <Stat name="Errors" value={short(rates?.errors_per_s ?? 0)} exact={rates?.errors_per_s ?? 0} unit="/s" />
      </Stats>
      <nav className="tabs" aria-label="Parts of the endpoint">
        {tabs.map((one) => (
          <Link
            key={one}
            to="/endpoints/$workspace/$name"
            params={{ workspace, name }}
            search={one === 'replicas' ? {} : { tab: one }}
            className="tab"
            activeOptions={{ exact: true, includeSearch: true }}
          >
            {NAMES[one]}
          </Link>
        ))}
      </nav>
      <Suspense fallback={<Loading />}>
        {tab === 'replicas' ? (
          <ReplicaTab workspace={workspace} name={name} base={base} isOfFile={source === 'file'} />
        ) : null}
        {tab === 'rollout' ? <RolloutTab workspace={workspace} base={base} /> : null}
        {tab === 'policy' ? <PolicyTab endpoint={endpoint} base={base} /> : null}
        {tab === 'shadows' ? <ShadowTab endpoint={endpoint} base={base} /> : null}
        {tab === 'events' ? <EventList kind="Endpoint" workspace={workspace} name={name} /> : null}
        {tab === 'logs' ? mayLog ? <LogTab base={base} /> : <Failure error={NO_LOGS} /> : null}
        {tab === 'yaml' ? <YamlTab workspace={workspace} base={base} /> : null}
      </Suspense>
      <AsCommand {...behind(tab, workspace, name, base)} />
    </>
  );
}

const queuedIn = ({ queued }: LiveEndpoint) => whole(Object.values(queued).reduce((sum, one) => sum + one, 0));

/** What a tab shows, by commands and by the API. */
function behind(tab: EndpointTab, workspace: string, name: string, base: string) {
  const where = inWorkspace(workspace);
  switch (tab) {
    case 'rollout':
      return {
        commands: [
          `twinyard rollout status ep/${quoted(name)}${where}`,
          `twinyard rollout history ep/${quoted(name)}${where}`,
          `twinyard rollout undo ep/${quoted(name)}${where}`,
        ],
        calls: [`${base}/revisions`],
      };
    case 'logs':
      return { commands: [`twinyard logs ep/${quoted(name)}${where} --follow`], calls: [`${base}/logs?follow=true`] };
    case 'events': {
      const path = withQuery('events', { kind: 'Endpoint', workspace, name });
      return { commands: [`twinyard events ep/${quoted(name)}${where}`], calls: [path] };
    }
    case 'yaml': {
      const commands = [`twinyard get ep/${quoted(name)}${where} -o yaml`, 'twinyard apply -f endpoint.yaml --dry-run'];
      return { commands, calls: [base] };
    }
    case 'policy':
      return { commands: [`twinyard describe ep/${quoted(name)}${where}`], calls: [`${base}/policy/history`] };
    case 'shadows': {
      const commands = ['list', 'add lmetric'].map(
        (what) => `twinyard shadow ${what} --endpoint ${quoted(name)}${where}`,
      );
      return { commands, calls: [`${base}/shadows`] };
    }
    default:
      return {
        commands: [`twinyard describe ep/${quoted(name)}${where}`, 'twinyard top'],
        calls: [`${base}/replicas`],
      };
  }
}
