import type { FeedFilter } from '../../control/change-feed.js';
import type { ControlStore } from '../../control/store/control-store.js';
import { fileEndpointUid } from '../../gateway/history/endpoint-events.js';
import { field, flag, text } from '../../schema/fields.js';
import { unknownResource } from '../../store/resources/resource-errors.js';
import { authorise } from '../access/authorise.js';
import { workspacesWith } from '../access/caller.js';
import { type ApiRoute, defineRoute, ok } from '../api-route.js';
import { fileEndpointsIn } from '../changes/file-endpoints.js';
import { keyIn, PAGE_QUERY, pageOf } from '../pagination.js';
import { eventView } from '../streams/event-view.js';
import { AUDIT_ENTRY, EVENT } from '../views/resource-views.js';
import { FILTER_QUERY, filterOf } from './filter.js';

/** Events of resources, and the audit log of changes. */
export const HISTORY_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/events',
    role: 'viewer',
    scope: 'each',
    summary: 'List events of resources, the latest first',
    query: {
      ...PAGE_QUERY,
      ...FILTER_QUERY,
      former: field(flag, { default: false, help: 'with kind and name, also of resources that had the name before' }),
    },
    response: { type: 'list', schema: EVENT },
    async handle(host, { caller, query }) {
      const filter = filterOf(caller, query);
      if (!host.hasStore) return ok(pageOf('EventList', query, [], () => [0], eventView));
      const store = await host.resources();
      const isOfFile =
        filter.kind !== undefined && filter.name !== undefined && fileEndpointsIn(host, filter).length > 0;
      const uid = isOfFile ? fileEndpointUid(filter.name!) : query.former ? null : await uidOf(store, filter);
      const last = keyIn(query, [0]);
      const events = await store.events.list({
        ...filter,
        ...(uid === null ? {} : { uid }),
        ...(last === null ? {} : { before: last[0] }),
        limit: query.limit + 1,
      });
      return ok(pageOf('EventList', query, events, ({ id }) => [id], eventView));
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/audit',
    role: 'admin',
    scope: 'each',
    summary: 'List who changed what, the latest first',
    query: {
      ...PAGE_QUERY,
      kind: field(text(63), { help: 'only of this kind' }),
      workspace: field(text(63), {
        help: 'only of this workspace; without it, of those that the caller is an admin of',
      }),
      name: field(text(), { help: 'only of this name' }),
      actor: field(text(), { help: 'only by this caller' }),
    },
    response: { type: 'list', schema: AUDIT_ENTRY },
    async handle(host, { caller, query }) {
      const { cursor: _, limit, ...given } = query;
      if (query.workspace !== undefined) authorise(caller, { role: 'admin', scope: 'workspace' }, query.workspace);
      const workspaces = workspacesWith(caller, 'admin');
      const wanted = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      const last = keyIn(query, [0]);
      const { resources } = await host.resources();
      const entries = await resources.audit({
        ...wanted,
        ...(workspaces === undefined ? {} : { workspaces }),
        ...(last === null ? {} : { before: last[0] }),
        limit: limit + 1,
      });
      return ok(
        pageOf(
          'AuditList',
          query,
          entries,
          ({ version }) => [version],
          (entry) => ({ ...entry, at: new Date(entry.at).toISOString() }),
        ),
      );
    },
  }),
];

/** Of the resource that has the name now, where one is named: events of others that had the name are not its own. */
async function uidOf({ resources }: ControlStore, { kind, name, workspace }: FeedFilter): Promise<string | null> {
  if (kind === undefined || name === undefined || workspace === undefined) return null;
  const ref = { kind, workspace, name };
  const present = await resources.get(ref);
  if (present === null) throw unknownResource(ref);
  return present.uid;
}
