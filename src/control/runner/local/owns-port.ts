import { readdir, readFile, readlink } from 'node:fs/promises';

/** Where one is reached who is asked at 127.0.0.1: there, at all addresses, or at either in the form of IPv6. */
const HERE = ['0100007F', '00000000', '0'.repeat(32), '0000000000000000FFFF00000100007F'];
const LISTENS = '0A';

/**
 * Whether it is one of these processes that listens on a port of this machine, and not a stranger who was faster. Where that
 * cannot be seen, they are believed.
 */
export async function ownsPort(port: number, pids: readonly number[]): Promise<boolean> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')),
  );
  const sockets = tables.flatMap((table) => listeners(table, port)).map((inode) => `socket:[${inode}]`);
  if (sockets.length === 0) return true;
  for (const pid of pids) {
    const folder = `/proc/${pid}/fd`;
    const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => error);
    if (names instanceof Error) {
      if (names.code === 'EACCES') return true;
      continue;
    }
    const open = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
    if (open.some((link) => sockets.includes(link))) return true;
  }
  return false;
}

/** The sockets that listen on a port, in a table of the kernel: a line each, addresses and ports in hexadecimal. */
export function listeners(table: string, port: number): string[] {
  const inodes: string[] = [];
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    const [address = '', place = ''] = local.split(':');
    const isHere = state === LISTENS && HERE.includes(address) && Number.parseInt(place, 16) === port;
    if (isHere && inode !== undefined) inodes.push(inode);
  }
  return inodes;
}
