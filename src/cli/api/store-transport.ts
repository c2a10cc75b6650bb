import type { ServerEvent } from '../../protocol/sse/server-events.js';
import type { Store } from '../../store/open-store.js';
import type { CallOptions, Transport } from './api-client.js';

/** The actor of changes that a command makes in a store itself: access to the file or the database is all it needs. */
const COMMAND_LINE = { name: 'command-line', role: 'admin', workspaces: new Map() } as const;

/** The API in this process, on a store alone: what needs a gateway or a control plane is refused. */
export class StoreTransport implements Transport {
  /** @param classes SLO classes that are known to be defined besides those that gateways have published */
  constructor(
    private readonly store: Store,
    private readonly classes: readonly string[],
  ) {}

  get url(): string {
    return `store ${this.store.address}`;
  }

  async call(method: string, path: string, { body = '', query = {}, signal }: CallOptions) {
    const [{ ApiHost }, { respond }] = await Promise.all([
      import('../../api/api-host.js'),
      import('../../api/respond.js'),
    ]);
    const { classes, store } = this;
    const host = new ApiHost({ store, gateway: null, control: null, classes });
    const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== null);
    const response = await respond(host, COMMAND_LINE, {
      method,
      path,
      query: new URLSearchParams(given),
      header: () => undefined,
      body: async () => body,
      signal: signal ?? new AbortController().signal,
    });
    return 'stream' in response ? { status: 503, body: null } : response;
  }

  // biome-ignore lint/correctness/useYield: a store has no events to follow
  async *events(): AsyncGenerator<ServerEvent> {
    throw new TypeError('a store has no events to follow');
  }
}
