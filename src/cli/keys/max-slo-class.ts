import { InputError } from '../../kernel/errors.js';
import { BUILT_IN_SLO_PRIORITIES } from '../../policy/slo-classes.js';
import type { Store } from '../../store/open-store.js';
import type { CliIo } from '../io.js';
import { withStore } from './store-flags.js';

type StoreValues = Parameters<typeof withStore>[0];

/**
 * Refuses a class that nobody defines, before anything is made or changed: not built in, in no policy of the gateway's file
 * that --config names, and told of by no gateway that has run on the store.
 */
export async function checkMaxSloClass(
  sloClass: string | null | undefined,
  values: StoreValues,
  io: CliIo,
): Promise<void> {
  if (sloClass == null || Object.hasOwn(BUILT_IN_SLO_PRIORITIES, sloClass)) return;
  const [{ knownClasses }, { checkSloClass }] = await Promise.all([
    import('../../gateway/access/known-classes.js'),
    import('../../store/keys/check-key.js'),
  ]);
  const endpoints = values.config === null ? [] : await endpointsIn(values.config);
  const known = await inStore(values, io, (store) => knownClasses(endpoints, store));
  checkSloClass(sloClass, known, '--max-slo-class');
}

/** A store that is not there has been told of nothing, and is not made for the question. */
async function inStore<Result>(
  values: StoreValues,
  io: CliIo,
  ask: (store: Store | null) => Promise<Result>,
): Promise<Result> {
  try {
    return await withStore(values, io, false, ask);
  } catch (error) {
    if (!(error instanceof InputError && error.code === 'STORE_MISSING')) throw error;
  }
  return ask(null);
}

async function endpointsIn(path: string) {
  const [{ readGatewayConfig }, { readWholeFile }] = await Promise.all([
    import('../../gateway/config/read-gateway-config.js'),
    import('../../workload/input-file.js'),
  ]);
  return readGatewayConfig(readWholeFile(path).toString('utf8'), path).endpoints;
}
