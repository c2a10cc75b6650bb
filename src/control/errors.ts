import { InputError, RunError } from '../kernel/errors.js';
import type { LeaseHolder } from './control-lease.js';

/** Errors that keep a control plane from opening. Codes are stable and start with CONTROL_. */

const IN_USE = 'RUNNER_IN_USE';

export const otherControlPlane = (store: string, { leftMs, place }: LeaseHolder) =>
  new RunError(
    'CONTROL_ELSEWHERE',
    `${store}: in use by the control plane of ${place}; stop that one, or use another store; ` +
      `if it was killed, try again in ${Math.ceil(leftMs / 1000)} s`,
  );

export const heldFolder = (dataDir: string) =>
  new RunError(
    IN_USE,
    `${dataDir}: in use by another control plane; stop that one, or use another folder ` +
      '(--data-dir, or data_dir in the file)',
  );

/** A new key cannot decrypt stored secrets, and the old one, restored later, none that were encrypted meanwhile. */
export const lostKeyFile = (path: string, store: string) =>
  new InputError(
    'SECRETS_KEY_LOST',
    path,
    `does not exist, and ${store} holds secrets that are encrypted with it`,
    `restore the file that belongs to this store; if it is lost, write a new key ` +
      `('openssl rand -hex 32 > ${path}; chmod 600 ${path}') and apply the resources with secrets again`,
  );

export const isFolderInUse = (error: unknown) => error instanceof RunError && error.code === IN_USE;

/** A gateway can run without a control plane when another one is active, or where engines cannot run. */
export const isControlElsewhere = (error: unknown) =>
  error instanceof RunError && ['CONTROL_ELSEWHERE', IN_USE, 'RUNNER_PLATFORM'].includes(error.code);
