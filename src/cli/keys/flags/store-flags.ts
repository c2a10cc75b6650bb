import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../../store/open-store.js';
import { DATA_DIR } from '../../api/server-flags.js';
import { conflictingFlags, missingFlag } from '../../errors.js';
import type { Flag } from '../../flags/flag.js';
import { file, stringFlag } from '../../flags/kinds.js';
import type { CliIo } from '../../io.js';

const DEFAULT_STORE = 'twinyard.db';
/** Where a control plane keeps its store. */
const KEPT_STORE = join(DATA_DIR, DEFAULT_STORE);

/** An address may hold a password: no message repeats it. */
const store: Flag<string | null> = {
  ...stringFlag({
    default: null,
    placeholder: 'address',
    defaultText: `$TWINYARD_STORE, else ${DEFAULT_STORE}, or that in ${DATA_DIR} where there is no other`,
    help: 'where the keys are: a file, or postgres://user@host/database',
  }),
  repeats: true,
  read(given, place) {
    if (given.includes('\n')) throw conflictingFlags(place, 'is given twice', 'keep one of them');
    return given;
  },
};

/** Which store a command works on. */
export const storeFlags = {
  store,
  config: { ...file({ help: "a gateway's twinyard.yaml: the store that it names" }), letter: 'c' },
};

interface StoreValues {
  readonly store: string | null;
  readonly config: string | null;
}

/** Opens the store that the flags name, does the work, and closes it again. */
export async function withStore<Result>(
  values: StoreValues,
  io: CliIo,
  create: boolean,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const address = await storeAddressOf(values, io);
  const [{ openStore }, { newFile }] = await Promise.all([
    import('../../../store/open-store.js'),
    import('../../../store/backup/new-file.js'),
  ]);
  const made = create ? newFile(address) : null;
  let opened: Store | null = null;
  try {
    opened = await openStore(address, { create });
    return await work(opened);
  } catch (error) {
    await made?.discard(opened);
    throw error;
  } finally {
    await opened?.close();
  }
}

/** The address that the flags, the environment or a gateway's file name. */
export async function storeAddressOf(values: StoreValues, io: CliIo): Promise<string> {
  if (values.store !== null && values.config !== null) {
    throw conflictingFlags('--store', 'is given together with --config', 'keep one of them');
  }
  if (values.store !== null) return values.store;
  if (values.config === null) return io.env.TWINYARD_STORE ?? usualStore();
  const named = await namedIn(values.config);
  if (named === null) {
    throw missingFlag('--store', `${values.config} names no store`, `give it, or add 'store: ${DEFAULT_STORE}' there`);
  }
  return named;
}

const usualStore = () => (!existsSync(DEFAULT_STORE) && existsSync(KEPT_STORE) ? KEPT_STORE : DEFAULT_STORE);

async function namedIn(path: string): Promise<string | null> {
  return (await configIn(path)).store;
}

/** The SLO classes that the policies of a gateway's file define. */
export async function classesIn(path: string): Promise<string[]> {
  const { classesOf } = await import('../../../gateway/access/known-classes.js');
  return classesOf((await configIn(path)).endpoints);
}

async function configIn(path: string) {
  const [{ readGatewayConfig }, { readWholeFile }] = await Promise.all([
    import('../../../gateway/config/read-gateway-config.js'),
    import('../../../workload/input-file.js'),
  ]);
  return readGatewayConfig(readWholeFile(path).toString('utf8'), path);
}
