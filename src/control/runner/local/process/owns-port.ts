import { readdir, readFile, readlink } from 'node:fs/promises';

/** Local addresses that receive connections to 127.0.0.1: itself, all addresses, and both in their IPv6 form. */
const LOOPBACK = ['0100007F', '00000000', '0'.repeat(32), '0000000000000000FFFF00000100007F'];
const LISTENS = '0A';

/**
 * Whether one of these processes listens on a port, and not another program that took it first. True where that cannot be
 * determined.
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

/** The inodes of sockets that listen on a port, from /proc/net/tcp: a line each, addresses and ports in hexadecimal. */
export function listeners(table: string, port: number): string[] {
  const inodes: string[] = [];
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    const [address = '', digits = ''] = local.split(':');
    const isListening = state === LISTENS && LOOPBACK.includes(address) && Number.parseInt(digits, 16) === port;
    if (isListening && inode !== undefined) inodes.push(inode);
  }
  return inodes;
}
