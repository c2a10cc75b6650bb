import { namedEndpoint } from '../../../gateway/fleet/endpoint-name.js';
import type { EngineProfileState, ProfileBook } from '../../../gateway/prediction/profile-book.js';
import { readProfileDocument } from '../../../gateway/prediction/profile-document.js';
import { field, flag, required, section, text } from '../../../schema/fields.js';
import { authorise } from '../../access/authorise.js';
import { type Caller, isEnough, roleIn } from '../../access/caller.js';
import type { ServedGateway } from '../../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute, ok } from '../../api-route.js';
import { noProfiles, unknownEngine } from '../../errors.js';
import { auditChange } from '../../gateway/audit-change.js';
import { liveEndpoint } from '../../gateway/live-endpoints.js';
import { profileFileView, profileView } from '../../gateway/profile-view.js';
import { PAGE_QUERY, pageOfAll } from '../../pagination.js';
import { openMap } from '../../views/parts.js';
import { ENGINE_PROFILE, ENGINE_PROFILE_WITH_FILE } from '../../views/profile-views.js';

const ONE = '/api/v1/workspaces/{workspace}/endpoints/{name}/profiles/{engine}';

const PIN = section('ProfilePin', {
  pinned: required(flag, { help: 'true: the profile is not fitted again; false: it is' }),
  profile: field(openMap, {
    help: 'to be used from now on, as a file of --latency-profile holds it; else the present one',
  }),
});

/** The latency profiles of engines, which the gateway fits to its traffic. */
export const PROFILE_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/profiles',
    role: 'viewer',
    scope: 'each',
    summary: 'List the latency profiles of endpoints and engines: score, age, errors of predictions, drift',
    query: {
      ...PAGE_QUERY,
      workspace: field(text(63), { help: 'only of this workspace' }),
      endpoint: field(text(), { help: 'only of endpoints with this name' }),
    },
    response: { type: 'list', schema: ENGINE_PROFILE },
    handle({ gateway }, { caller, query }) {
      const { endpoint, workspace } = query;
      if (workspace !== undefined) authorise(caller, { role: 'viewer', scope: 'workspace' }, workspace);
      const wanted = bookOf(gateway)
        .states()
        .map((state) => ({ state, called: namedEndpoint(gateway.endpoints, state.endpoint) }))
        .filter(({ called }) => sees(caller, called.workspace) && (workspace ?? called.workspace) === called.workspace)
        .filter(({ called }) => (endpoint ?? called.name) === called.name);
      return ok(
        pageOfAll(
          'EngineProfileList',
          query,
          wanted,
          ({ called, state }) => [called.workspace, called.name, state.engine],
          ({ state }) => profileView(gateway, state),
        ),
      );
    },
  }),
  defineRoute({
    method: 'GET',
    path: ONE,
    role: 'viewer',
    scope: 'workspace',
    summary: 'Return a latency profile with its file, which run --latency-profile reads',
    response: { type: 'object', schema: ENGINE_PROFILE_WITH_FILE },
    handle: ({ gateway }, { params }) => ok(profileFileView(gateway, stateOf(gateway, params))),
  }),
  defineRoute({
    method: 'PUT',
    path: `${ONE}/pin`,
    role: 'operator',
    scope: 'workspace',
    summary: 'Pin a latency profile, so that it is not fitted again, or unpin it; with a profile, use that one',
    body: { type: 'json', schema: PIN, example: { pinned: true } },
    response: { type: 'object', schema: ENGINE_PROFILE },
    async handle(host, { body, caller, params }) {
      const { gateway } = host;
      const before = stateOf(gateway, params);
      const profile =
        body.profile === undefined ? {} : { profile: readProfileDocument(body.profile, 'body (profile)') };
      const after = bookOf(gateway).pin(before.endpoint, before.engine, { isPinned: body.pinned, ...profile });
      await auditChange(host, caller.name, {
        ...{ kind: 'Profile', workspace: params.workspace!, name: `${params.name}/${before.engine}`, action: 'update' },
        ...{ before: auditView(before), after: auditView(after) },
      });
      return ok(profileView(gateway, after));
    },
  }),
];

function bookOf({ traffic }: ServedGateway): ProfileBook {
  if (traffic.profiles === null) throw noProfiles();
  return traffic.profiles;
}

function stateOf(gateway: ServedGateway, { engine, name, workspace }: ApiRequest['params']): EngineProfileState {
  const endpoint = liveEndpoint(gateway, { workspace: workspace!, name: name! });
  const states = bookOf(gateway).states(endpoint.name);
  const found = states.find((state) => state.engine === engine);
  if (found !== undefined) return found;
  const known = states.map((state) => state.engine);
  throw unknownEngine(workspace!, name!, engine!, known);
}

function auditView({ isPinned, profile, source }: EngineProfileState): object {
  return { pinned: isPinned, source, profile: profile?.name ?? null };
}

const sees = (caller: Caller, workspace: string) => isEnough(roleIn(caller, workspace), 'viewer');
