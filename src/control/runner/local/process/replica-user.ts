import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ReplicaUser } from '../../contract.js';
import { badReplicaUser, replicaUserReads, unreachableForReplicas } from '../../errors.js';

const ID = /^(?:0|[1-9]\d{0,9})$/;
const MOST_ID = 2 ** 32 - 2;

/**
 * The user of `name`, `uid` or either with `:gid`. Only root can start processes as another user, and root itself reads everything.
 * @param place where it was given, for errors
 */
export function replicaUser(given: string, place: string): ReplicaUser {
  if (process.getuid?.() !== 0) throw badReplicaUser(place, 'needs root', 'start it as root, or leave it out');
  const [called = '', group, ...rest] = given.split(':');
  if (called === '' || rest.length > 0)
    throw badReplicaUser(place, `'${given}' is not a user`, 'give NAME or UID[:GID]');
  const isNumber = ID.test(called);
  const uid = isNumber ? Number(called) : idOf('-u', called, place);
  const gid = group === undefined ? (isNumber ? uid : idOf('-g', called, place)) : groupOf(group, place);
  if (uid > MOST_ID || gid > MOST_ID)
    throw badReplicaUser(place, `'${given}' is out of range`, 'give NAME or UID[:GID]');
  if (uid === 0 || gid === 0) throw badReplicaUser(place, `'${given}' is root`, 'give a user without rights');
  return { name: called, uid, gid };
}

function groupOf(group: string, place: string): number {
  if (!ID.test(group)) throw badReplicaUser(place, `'${group}' is not a group id`, 'give its number');
  return Number(group);
}

/** `id` also knows users of directories. */
function idOf(flag: '-u' | '-g', name: string, place: string): number {
  try {
    return Number(execFileSync('id', [flag, '--', name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  } catch {
    throw badReplicaUser(place, `there is no user '${name}'`, 'create it, or give UID[:GID]');
  }
}

/** Lets other users pass through a folder to those below it, without listing it. */
export function letThrough(folder: string): void {
  chmodSync(folder, 0o711);
}

/**
 * Opens the way to models and working folders, and then checks as that user that it leads there and nowhere else: no file of the
 * data folder can be read, and the folder cannot be listed.
 */
export function separateFrom(user: ReplicaUser, dataDir: string): void {
  const passed = [dataDir, join(dataDir, 'runner'), join(dataDir, 'models')];
  for (const folder of passed) letThrough(folder);
  const files = readdirSync(dataDir, { withFileTypes: true })
    .filter((one) => one.isFile())
    .map(({ name }) => join(dataDir, name));
  const { status, stdout } = spawnSync('/bin/sh', ['-c', CHECK, 'sh', dataDir, ...files], {
    ...{ uid: user.uid, gid: user.gid, cwd: '/', env: {}, encoding: 'utf8' },
  });
  if (status === BLOCKED) throw unreachableForReplicas(user.name, closedAbove(dataDir));
  if (status !== 0) throw replicaUserReads(user.name, stdout.trim() || dataDir);
}

const BLOCKED = 3;
const CHECK = `
cd "$1/models/models" 2>/dev/null || exit ${BLOCKED}
ls "$1" >/dev/null 2>&1 && exit 4
shift
for file; do if [ -r "$file" ]; then echo "$file"; exit 5; fi; done
`;

/** The nearest folder above that others may not pass. */
function closedAbove(folder: string): string {
  for (let above = dirname(folder); ; above = dirname(above)) {
    if ((statSync(above).mode & 0o001) === 0 || above === dirname(above)) return above;
  }
}
