import type { Resource } from '../../../control/resources/resource.js';
import { InputError } from '../../../kernel/errors.js';
import { knownNames } from '../../../kernel/text/nearest-name.js';
import type { ApiClient } from '../../api/api-client.js';
import type { CliIo } from '../../io.js';
import type { Watched } from './watch-resources.js';

/** Reports that an empty list is one of a workspace that does not exist, as after a typing mistake. */
export async function noSuchWorkspace(client: ApiClient, { kind, workspace }: Watched, io: CliIo): Promise<boolean> {
  if (kind.scope === 'global' || workspace === null) return false;
  try {
    const { items } = await client.list<Resource>('/api/v1/workspaces');
    const known = items.map(({ metadata }) => metadata.name);
    if (known.includes(workspace)) return false;
    io.stderr.write(`twinyard: there is no workspace '${workspace}'; ${knownNames(workspace, known)}\n`);
    return true;
  } catch (error) {
    // A caller that may not list workspaces gets no hint.
    if (error instanceof InputError) return false;
    throw error;
  }
}
