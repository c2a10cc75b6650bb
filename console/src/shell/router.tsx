import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  retainSearchParams,
} from '@tanstack/react-router';
import { Loading } from '../parts/states';
import { NotFound } from './not-found';
import { PageError, PageMissing } from './page-error';
import { Shell } from './shell';

/**
 * Every page: one folder under pages/, loaded when it is opened. All that a page shows is in its address, so that a link shows the
 * same to others: `validateSearch` names its parameters, and drops what it does not know.
 */
type Given = Record<string, unknown>;
/** A parameter as text; undefined leaves it out of the address. */
const text = (given: Given, name: string) => {
  const value = given[name];
  return value === undefined || value === '' || typeof value === 'object' ? undefined : String(value);
};

/** A page that is loaded when it is opened. One that cannot be loaded says so: it does not load the console again by itself. */
function page<Module extends Record<string, unknown>>(load: () => Promise<Module>, name: keyof Module & string) {
  const loaded = () =>
    load().catch(() => {
      throw new PageMissing();
    });
  return lazyRouteComponent(loaded, name);
}

/** The workspace that the visitor has chosen stays in the address from page to page. */
const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  validateSearch: (given: Given): { workspace?: string } => ({ workspace: text(given, 'workspace') }),
  search: { middlewares: [retainSearchParams(['workspace'])] },
});

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  staticData: { title: () => 'Overview' },
  component: page(() => import('../pages/overview/overview-page'), 'OverviewPage'),
});

export const ENDPOINT_TABS = ['replicas', 'rollout', 'logs', 'events', 'policy', 'shadows', 'yaml'] as const;
export type EndpointTab = (typeof ENDPOINT_TABS)[number];

const endpoint = createRoute({
  getParentRoute: () => root,
  path: '/endpoints/$workspace/$name',
  staticData: { title: ({ workspace, name }) => `${workspace}/${name}` },
  validateSearch: (given: Given): { tab?: EndpointTab; replica?: string; find?: string; previous?: string } => ({
    tab: ENDPOINT_TABS.find((one) => one === given.tab),
    replica: text(given, 'replica'),
    find: text(given, 'find'),
    previous: text(given, 'previous'),
  }),
  component: page(() => import('../pages/endpoint/endpoint-page'), 'EndpointPage'),
});

export interface RequestSearch {
  workspace?: string;
  endpoint?: string;
  id?: string;
  model?: string;
  key?: string;
  class?: string;
  replica?: string;
  outcome?: string;
  min_ttft_ms?: string;
  min_duration_ms?: string;
  within_s?: string;
  from?: string;
  to?: string;
}
const REQUEST_PARAMETERS = [
  ...['workspace', 'endpoint', 'id', 'model', 'key', 'class', 'replica', 'outcome'],
  ...['min_ttft_ms', 'min_duration_ms', 'within_s', 'from', 'to'],
];

const requests = createRoute({
  getParentRoute: () => root,
  path: '/requests',
  staticData: { title: () => 'Requests' },
  validateSearch: (given: Given): RequestSearch =>
    Object.fromEntries(REQUEST_PARAMETERS.map((name) => [name, text(given, name)])),
  component: page(() => import('../pages/requests/requests-page'), 'RequestsPage'),
});

const request = createRoute({
  getParentRoute: () => root,
  path: '/requests/$id',
  staticData: { title: ({ id }) => `Request ${id}` },
  component: page(() => import('../pages/requests/request-page'), 'RequestPage'),
});

export interface KeySearch {
  tab?: 'keys' | 'usage';
  key?: string;
  by?: string;
  from?: string;
  to?: string;
  search?: string;
  phase?: string;
  sort?: string;
  cursor?: string;
}

const keys = createRoute({
  getParentRoute: () => root,
  path: '/keys',
  staticData: { title: () => 'Keys and usage' },
  validateSearch: (given: Given): KeySearch => ({
    tab: given.tab === 'usage' ? 'usage' : undefined,
    key: text(given, 'key'),
    by: text(given, 'by'),
    from: text(given, 'from'),
    to: text(given, 'to'),
    search: text(given, 'search'),
    phase: text(given, 'phase'),
    sort: text(given, 'sort'),
    cursor: text(given, 'cursor'),
  }),
  component: page(() => import('../pages/keys/keys-page'), 'KeysPage'),
});

const key = createRoute({
  getParentRoute: () => root,
  path: '/keys/$name',
  staticData: { title: ({ name }) => `API key ${name}` },
  component: page(() => import('../pages/keys/key-page'), 'KeyPage'),
});

export interface PlaygroundSearch {
  models?: string;
  system?: string;
  max_tokens?: string;
  temperature?: string;
  top_p?: string;
  presence_penalty?: string;
  frequency_penalty?: string;
  seed?: string;
  stop?: string;
}
const PLAYGROUND_PARAMETERS = [
  ...[
    'models',
    'system',
    'max_tokens',
    'temperature',
    'top_p',
    'presence_penalty',
    'frequency_penalty',
    'seed',
    'stop',
  ],
];

const playground = createRoute({
  getParentRoute: () => root,
  path: '/playground',
  staticData: { title: () => 'Playground' },
  validateSearch: (given: Given): PlaygroundSearch =>
    Object.fromEntries(PLAYGROUND_PARAMETERS.map((name) => [name, text(given, name)])),
  component: page(() => import('../pages/playground/playground-page'), 'PlaygroundPage'),
});

export interface ResourceSearch {
  kind?: string;
  search?: string;
  phase?: string;
  sort?: string;
  cursor?: string;
}

const resources = createRoute({
  getParentRoute: () => root,
  path: '/resources',
  staticData: { title: () => 'Resources' },
  validateSearch: (given: Given): ResourceSearch =>
    Object.fromEntries(['kind', 'search', 'phase', 'sort', 'cursor'].map((name) => [name, text(given, name)])),
  component: page(() => import('../pages/resources/resources-page'), 'ResourcesPage'),
});

const newResource = createRoute({
  getParentRoute: () => root,
  path: '/resources/new/$kind',
  staticData: { title: ({ kind }) => `New of ${kind}` },
  component: page(() => import('../pages/resources/new-resource-page'), 'NewResourcePage'),
});

export const RESOURCE_TABS = ['status', 'edit', 'events', 'revisions'] as const;

const resource = createRoute({
  getParentRoute: () => root,
  path: '/resources/$kind/$name',
  staticData: { title: ({ kind, name }) => `${name} · ${kind}` },
  validateSearch: (given: Given): { tab?: (typeof RESOURCE_TABS)[number] } => ({
    tab: RESOURCE_TABS.find((one) => one === given.tab),
  }),
  component: page(() => import('../pages/resources/resource-page'), 'ResourcePage'),
});

const WHAT_IF_PARAMETERS = [
  ...['workspace', 'endpoint', 'last', 'to', 'policy', 'options', 'replicas', 'gpu', 'queue', 'metric'],
  ...['admission', 'admission_options', 'ttft', 'itl', 'e2e', 'times', 'workload', 'rate', 'model', 'hardware', 'tp'],
  ...['job', 'switch'],
] as const;
export type WhatIfSearch = { [Name in (typeof WHAT_IF_PARAMETERS)[number]]?: string } & { ask?: 'advice' | 'plan' };

const whatIf = createRoute({
  getParentRoute: () => root,
  path: '/whatif',
  staticData: { title: () => 'What-if and plan' },
  validateSearch: (given: Given): WhatIfSearch => ({
    ask: given.ask === 'advice' || given.ask === 'plan' ? given.ask : undefined,
    ...Object.fromEntries(WHAT_IF_PARAMETERS.map((name) => [name, text(given, name)])),
  }),
  component: page(() => import('../pages/whatif/whatif-page'), 'WhatIfPage'),
});

const LAB_PARAMETERS = [
  ...['workspace', 'workload', 'rate', 'requests', 'upload', 'file', 'endpoint', 'last', 'from', 'to'],
  ...['model', 'hardware', 'tp', 'replicas', 'kinds', 'profile', 'steps', 'admission', 'queue'],
  ...['policies', 'seeds', 'slo', 'age', 'job', 'saved', 'cursor', 'load', 'measure'],
] as const;
export type LabSearch = { [Name in (typeof LAB_PARAMETERS)[number]]?: string } & {
  source?: 'upload' | 'recording';
  format?: 'workload';
  chart?: 'e2e' | 'itl';
};

const lab = createRoute({
  getParentRoute: () => root,
  path: '/lab',
  staticData: { title: () => 'Lab' },
  validateSearch: (given: Given): LabSearch => ({
    source: given.source === 'upload' || given.source === 'recording' ? given.source : undefined,
    format: given.format === 'workload' ? 'workload' : undefined,
    chart: given.chart === 'e2e' || given.chart === 'itl' ? given.chart : undefined,
    ...Object.fromEntries(LAB_PARAMETERS.map((name) => [name, text(given, name)])),
  }),
  component: page(() => import('../pages/lab/lab-page'), 'LabPage'),
});

export interface ChangeSearch {
  /** The audit log instead of events. */
  of?: 'audit';
  kind?: string;
  name?: string;
  actor?: string;
  cursor?: string;
}

const changes = createRoute({
  getParentRoute: () => root,
  path: '/changes',
  validateSearch: (given: Given): ChangeSearch => ({
    of: given.of === 'audit' ? 'audit' : undefined,
    ...Object.fromEntries(['kind', 'name', 'actor', 'cursor'].map((name) => [name, text(given, name)])),
  }),
  component: lazyRouteComponent(() => import('../pages/changes/changes-page'), 'ChangesPage'),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  staticData: { title: () => 'Settings' },
  component: page(() => import('../pages/settings/settings-page'), 'SettingsPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    overview,
    changes,
    endpoint,
    requests,
    request,
    lab,
    whatIf,
    playground,
    keys,
    key,
    resources,
    newResource,
    resource,
    settings,
  ]),
  defaultPreload: 'intent',
  defaultPendingComponent: () => <Loading />,
  defaultErrorComponent: PageError,
  // Numbers and words stand in the address as they are.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return query === '' ? '' : `?${query}`;
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
