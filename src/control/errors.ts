import { InputError, RunError } from '../kernel/errors.js';
import type { LeaseHolder } from './control-lease.js';

/** What keeps a control plane from opening. Codes are stable and start with CONTROL_. */

const IN_USE = 'RUNNER_IN_USE';

export const otherControlPlane = (store: string, { leftMs, place }: LeaseHolder) =>
  new RunError(
    'CONTROL_ELSEWHERE',
    `${store}: the control plane of ${place} keeps its resources true; stop that one, or give this one another store; ` +
      `if it has been killed, try again in ${Math.ceil(leftMs / 1000)} s`,
  );

export const heldFolder = (dataDir: string) =>
  new RunError(
    IN_USE,
    `${dataDir}: another control plane runs its replicas from here; stop that one, or give this one another folder ` +
      '(--data-dir, or data_dir in its file)',
  );

/** A new key would open none of them, and the old one, put back later, none that the new one has sealed meanwhile. */
export const lostKeyFile = (path: string, store: string) =>
  new InputError(
    'SECRETS_KEY_LOST',
    path,
    `is not there, and ${store} holds secrets that only the key in it opens`,
    `put back the file that belongs to this store; if it is lost for good, write a new key there ` +
      `('openssl rand -hex 32 > ${path}; chmod 600 ${path}') and apply the resources that have secrets again, with them`,
  );

export const isFolderInUse = (error: unknown) => error instanceof RunError && error.code === IN_USE;

/** A gateway can do without a control plane where there is another one, or where engines cannot be run. */
export const isControlElsewhere = (error: unknown) =>
  error instanceof RunError && ['CONTROL_ELSEWHERE', IN_USE, 'RUNNER_PLATFORM'].includes(error.code);
