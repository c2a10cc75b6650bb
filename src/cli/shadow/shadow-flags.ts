import { workspaceFor } from '../api/find-server.js';
import { workspaceFlags } from '../api/server-flags.js';
import { stringFlag } from '../flags/kinds.js';
import type { CliIo } from '../io.js';

export const endpointFlags = {
  endpoint: {
    ...stringFlag({
      default: null,
      placeholder: 'name',
      defaultText: 'default',
      help: 'endpoint whose requests it decides about',
    }),
    letter: 'e',
  },
  ...workspaceFlags,
};

interface EndpointValues {
  readonly endpoint: string | null;
  readonly workspace: string | null;
}

/** Where the shadows of the endpoint are in the API, and the endpoint as messages name it. */
export function shadowsOf(
  values: EndpointValues & Parameters<typeof workspaceFor>[0],
  io: CliIo,
): { readonly path: string; readonly shown: string } {
  const workspace = workspaceFor(values, io);
  const endpoint = values.endpoint ?? 'default';
  const path = ['workspaces', workspace, 'endpoints', endpoint].map(encodeURIComponent).join('/');
  return { path: `/api/v1/${path}/shadows`, shown: `endpoint ${workspace}/${endpoint}` };
}
