import { DEFAULT_WORKSPACE } from '../../../control/resources/resource.js';
import { unknownResource } from '../../../store/resources/resource-errors.js';
import type { ApiHost } from '../../api-host.js';
import type { ApiRequest } from '../../api-route.js';

/** The workspace of a path. Throws `RESOURCE_UNKNOWN` where there is none of this name: nothing would ever delete what is kept for it. */
export async function workspaceIn(host: ApiHost, { params }: Pick<ApiRequest, 'params'>): Promise<string> {
  const name = params.workspace!;
  if (name === DEFAULT_WORKSPACE) return name;
  const ref = { kind: 'Workspace', workspace: '', name };
  const found = host.hasStore ? await host.store.resources.get(ref) : null;
  if (found === null || found.deletedAt !== null) throw unknownResource(ref);
  return name;
}
