import { InputError, RunError } from '../kernel/errors.js';
import type { LeaseHolder } from './lease-records.js';

/** Errors that keep a control plane from opening. Codes are stable and start with CONTROL_. */

const IN_USE = 'RUNNER_IN_USE';

const ELSEWHERE = 'CONTROL_ELSEWHERE';

export const otherControlPlane = ({ admin, place }: Pick<LeaseHolder, 'admin' | 'place'>) =>
  new RunError(
    ELSEWHERE,
    `this process is a standby: the control plane is ${place}, its admin API ${admin}; send the request there`,
  );

export const noLeaderNow = () =>
  new RunError(
    ELSEWHERE,
    'no process leads the control plane at the moment: send the request again in a few seconds; the log says why if it stays so',
  );

/** Each of them would take over from the other. */
export const otherElection = (own: string | null, { election, place }: LeaseHolder) =>
  `this process takes part in the election by ${own === null ? 'the store' : `Lease ${own}`}, the control plane at ${place} in that by ` +
  `${election === undefined ? 'the store' : `Lease ${election}`}: start all with the same --leader-lease`;

/** The status of an endpoint whose replicas only another host can start and stop. */
export const hostAway = (cluster: string, place: string) =>
  `cluster '${cluster}' belongs to ${place}, where no control plane runs: start it there, or ` +
  `'twinyard serve --claim-cluster' elsewhere if that host is lost`;

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
    `copy the file that belongs to this store; if it is lost, write a new key ('openssl rand -hex 32 > ${path}; ` +
      `chmod 600 ${path}'), start once with --accept-secrets-key and apply the resources with secrets again`,
  );

export const wrongKeyFile = (path: string, store: string) =>
  new InputError(
    'SECRETS_KEY_WRONG',
    path,
    `is not the key of ${store}: the secrets there are encrypted with another key`,
    'copy the file that belongs to this store; if it is lost, start once with --accept-secrets-key and apply the ' +
      'resources with secrets again',
  );

/** No secrets are stored yet, or only some that the leader has stored since. */
export const followerKey = (path: string, { place }: LeaseHolder) =>
  `${path}: is not the secrets.key of the control plane at ${place}: copy that file here and start again, or this process does ` +
  'not take over once resources hold secrets';

export const cannotTakeOver = (problem: Error) =>
  `no process leads the control plane, and this one does not take over: ${problem.message}`;

export const isFolderInUse = (error: unknown) => error instanceof RunError && error.code === IN_USE;

/** A gateway can run without a control plane when another one uses its folder, or where engines cannot run. */
export const isControlElsewhere = (error: unknown) =>
  error instanceof RunError && [IN_USE, 'RUNNER_PLATFORM'].includes(error.code);
