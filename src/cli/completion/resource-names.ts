import { ApiClient } from '../api/api-client.js';
import { findServer, workspaceFor } from '../api/find-server.js';
import { HttpTransport } from '../api/http-transport.js';
import { listResources } from '../control/targets/watch-resources.js';
import type { CliIo } from '../io.js';

/** The shell blocks until the names are there. */
const TIMEOUT_MS = 800;

/**
 * The names of the resources of a kind, from the control plane that the words of the command line typed so far lead to. Empty
 * when there is none, it does not respond in time, or anything else is wrong: a shell shows no errors while completing.
 */
export async function resourceNames(
  kindGiven: string,
  words: readonly string[],
  { env }: Pick<CliIo, 'env'>,
): Promise<string[]> {
  try {
    const { kindNamed } = await import('../../control/resources/kinds.js');
    const value = (...names: string[]) => valueOfFlag(words, names);
    const values = {
      ...{ server: value('--server'), token: value('--token'), 'data-dir': value('--data-dir') },
      ...{ context: value('--context'), workspace: value('--workspace', '-n') },
    };
    const server = findServer(values, { env });
    const workspace = workspaceFor(values, { env });
    const watched = { kind: kindNamed(kindGiven, 'KIND'), workspace, name: null, labels: null };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { items } = await listResources(new ApiClient(new HttpTransport(server)), watched, signal);
    return items.map(({ metadata }) => metadata.name);
  } catch {
    return [];
  }
}

/** The value of a flag, after a space or an equals sign. */
function valueOfFlag(words: readonly string[], names: readonly string[]): string | null {
  for (const [i, word] of words.entries()) {
    for (const name of names) {
      if (word.startsWith(`${name}=`)) return word.slice(name.length + 1);
      if (word === name) return words[i + 1] ?? null;
    }
  }
  return null;
}
