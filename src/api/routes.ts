import { KINDS } from '../control/resources/kinds.js';
import { type ApiRoute, defineRoute, ok } from './api-route.js';
import { API_KEY_ROUTES } from './routes/api-key-routes.js';
import { ENDPOINT_ROUTES } from './routes/endpoint-routes.js';
import { GATEWAY_ROUTES } from './routes/gateway-routes.js';
import { GENERAL_ROUTES } from './routes/general-routes.js';
import { HISTORY_ROUTES } from './routes/history-routes.js';
import { LAB_ROUTES } from './routes/lab/lab-routes.js';
import { SAVED_LAB_ROUTES } from './routes/lab/saved-routes.js';
import { REGISTRY_ROUTES } from './routes/registry-routes.js';
import { resourceRoutes } from './routes/resource-routes.js';
import { revisionRoutes } from './routes/revision-routes.js';
import { SERVED_ENDPOINT_ROUTES } from './routes/served-endpoint-routes.js';
import { SESSION_ROUTES } from './routes/session-routes.js';
import { PLAYGROUND_ROUTES } from './routes/traffic/playground-routes.js';
import { TRAFFIC_ROUTES } from './routes/traffic/traffic-routes.js';
import { USAGE_ROUTES } from './routes/traffic/usage-routes.js';
import { JOB_ROUTES } from './routes/twin/job-routes.js';
import { POLICY_ROUTES } from './routes/twin/policy-routes.js';
import { PROFILE_ROUTES } from './routes/twin/profile-routes.js';
import { SHADOW_ROUTES } from './routes/twin/shadow-routes.js';
import { TWIN_ROUTES } from './routes/twin/twin-routes.js';
import { WATCH_ROUTES } from './routes/watch-routes.js';

const OPEN_API = defineRoute({
  method: 'GET',
  path: '/api/v1/openapi.json',
  role: 'viewer',
  scope: 'anywhere',
  summary: 'Describe this API by OpenAPI 3.1',
  response: { type: 'openapi' },
  // Loaded on demand: no other operation needs it.
  handle: async () => ok(await (await import('./open-api.js')).openApi(API_ROUTES)),
});

/** Every operation of the API. */
export const API_ROUTES: readonly ApiRoute[] = [
  OPEN_API,
  ...SESSION_ROUTES,
  ...GENERAL_ROUTES,
  ...HISTORY_ROUTES,
  ...WATCH_ROUTES,
  ...KINDS.flatMap((kind) => [...resourceRoutes(kind), ...revisionRoutes(kind)]),
  ...ENDPOINT_ROUTES,
  ...SERVED_ENDPOINT_ROUTES,
  ...SHADOW_ROUTES,
  ...REGISTRY_ROUTES,
  ...API_KEY_ROUTES,
  ...GATEWAY_ROUTES,
  ...POLICY_ROUTES,
  ...TRAFFIC_ROUTES,
  ...PLAYGROUND_ROUTES,
  ...USAGE_ROUTES,
  ...TWIN_ROUTES,
  ...JOB_ROUTES,
  ...PROFILE_ROUTES,
  ...LAB_ROUTES,
  ...SAVED_LAB_ROUTES,
];
