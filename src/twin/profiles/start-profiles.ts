import { join } from 'node:path';
import { managedName } from '../../gateway/fleet/endpoint-directory.js';
import type { Gateway } from '../../gateway/gateway.js';
import { addEndpointEvent } from '../../gateway/history/endpoint-events.js';
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
    event: (endpoint, type, reason, message) => void addEndpointEvent(gateway, endpoint, { type, reason, message }),
    ...change,
  });
  traffic.profiles = profiles;
  return profiles;
}

/** Keeps them from now on. */
export function startProfiles(gateway: Gateway): { close(): Promise<void> } {
  const profiles = gatewayProfiles(gateway);
  const unwatch = gateway.store?.resources.watch((changes) => {
    for (const { record, type } of changes)
      if (type === 'removed' && record.kind === 'Endpoint') profiles.forget(managedName(record.workspace, record.name));
  });
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
      unwatch?.();
      clearInterval(timer);
      await profiles.close();
      await turn;
    },
  };
}
