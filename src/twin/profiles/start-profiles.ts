import { join } from 'node:path';
import type { Gateway } from '../../gateway/gateway.js';
import { EngineProfiles, type EngineProfilesParts } from './engine-profiles.js';
import { fitInThread } from './fit/fit-thread.js';
import { ProfileFolder } from './kept-profiles.js';

const TICK_MS = 5000;

/** The profiles of a gateway's engines; with a store they are in its data folder. */
export function gatewayProfiles(gateway: Gateway, change: Partial<EngineProfilesParts> = {}): EngineProfiles {
  const { config, traffic } = gateway;
  const profiles = new EngineProfiles({
    endpoints: () => gateway.endpoints,
    observed: traffic.observed,
    nowUs: gateway.clock.nowUs,
    epochUs: gateway.epochUs,
    folder: config.store === null ? null : new ProfileFolder(join(config.dataDir, 'profiles')),
    makeFit: fitInThread,
    warn: (line) => gateway.onWarning(line),
    event: (endpoint, type, reason, message) => void addEvent(gateway, endpoint, type, reason, message),
    ...change,
  });
  traffic.profiles = profiles;
  return profiles;
}

/** Keeps them from now on. */
export function startProfiles(gateway: Gateway): { close(): Promise<void> } {
  const profiles = gatewayProfiles(gateway);
  let turn = Promise.resolve();
  let isBusy = false;
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    turn = profiles
      .tick()
      .catch((error) => gateway.fault(error))
      .finally(() => {
        isBusy = false;
      });
  }, TICK_MS).unref();
  return {
    async close() {
      clearInterval(timer);
      await profiles.close();
      await turn;
    },
  };
}

/** An endpoint of the configuration file has no resource, and so no events: the log has the line. */
async function addEvent(
  { endpoints, store }: Gateway,
  endpoint: string,
  type: 'normal' | 'warning',
  reason: string,
  message: string,
): Promise<void> {
  const managed = endpoints.get(endpoint)?.managed;
  if (store === null || !managed) return;
  const { name, workspace } = managed;
  try {
    const record = await store.resources.get({ kind: 'Endpoint', workspace, name });
    if (record !== null) await store.events.add(record, type, reason, message);
  } catch {
    // The store is away: the log has the line.
  }
}
