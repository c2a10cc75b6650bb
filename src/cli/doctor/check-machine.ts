import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { folderProblem } from '../../files/file-problem.js';
import type { GatewayConfig, ListenConfig } from '../../gateway/config/gateway-config.js';
import { listenError } from '../../kernel/listen-error.js';
import { type Check, finding, findingOf, fine } from './check.js';
import { getPage } from './get-page.js';

/** Ports, folders and limits of this machine. Nothing is created or changed. */
export async function checkMachine(config: GatewayConfig): Promise<Check[]> {
  return [...(await checkPorts(config)), ...checkFolders(config), ...checkSecretFiles(config), openFiles(config)];
}

/** A port is fine when it is free, or when a gateway has it already. */
async function checkPorts({ admin, listen }: GatewayConfig): Promise<Check[]> {
  const checks: Check[] = [];
  for (const [what, { host, port, tls }, portFlag] of [
    ['clients', listen, '--port'],
    ['admin', admin, '--admin-port'],
  ] as const) {
    const place = `${what} ${host}:${port}`;
    const error = port === 0 ? null : await listenProblem({ host, port, tls });
    if (error === null) checks.push(fine('port', place, port === 0 ? 'any free port' : 'free'));
    else if (error.code === 'EADDRINUSE' && (await isServed({ host, port, tls }))) {
      checks.push(fine('port', place, 'served by a gateway'));
    } else checks.push(findingOf('port', place, listenError(error, { host, port, portFlag }), 'choose another'));
  }
  return checks;
}

/** Listens for a moment. Null when that works. */
function listenProblem({ host, port }: ListenConfig): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

async function isServed({ host, port, tls }: ListenConfig): Promise<boolean> {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host.includes(':') ? `[${host === '::' ? '::1' : host}]` : host;
  try {
    const { text } = await getPage(`http${tls === null ? '' : 's'}://${name}:${port}/health`, 2000, true);
    return text.includes('"alive"');
  } catch {
    return false;
  }
}

/** Folders that the gateway writes into. */
function checkFolders({ accessLog, dataDir, decisionLog, record, store }: GatewayConfig): Check[] {
  const folders = new Set<string>();
  if (store !== null) folders.add(dataDir);
  for (const path of [accessLog?.path, record?.path, decisionLog]) {
    if (path !== undefined && path !== null && path !== '-') folders.add(dirname(path));
  }
  return [...folders].map((path) => checkFolder(path, path === dataDir));
}

/** @param isCreated whether the gateway creates it where it is missing */
function checkFolder(path: string, isCreated: boolean): Check {
  const isMissing = !existsSync(path);
  if (isMissing && !isCreated) return finding('folder', path, 'does not exist', 'create it');
  let above = path;
  while (!existsSync(above)) above = dirname(above);
  try {
    if (!statSync(above).isDirectory())
      return finding('folder', above, 'is not a folder', 'choose another with --data-dir');
    accessSync(above, constants.W_OK | constants.X_OK);
  } catch (error) {
    return finding(
      'folder',
      above,
      `cannot be written (${folderProblem(error)})`,
      'run as its owner, or change its permissions',
    );
  }
  if ((statSync(above).mode & 0o002) !== 0 && above === path) {
    return finding('folder', path, 'can be written by every user', `run 'chmod o-w ${path}'`);
  }
  return fine('folder', path, isMissing ? 'will be created' : 'can be written');
}

/** Files of the data folder that only their owner may read. */
function checkSecretFiles({ dataDir }: GatewayConfig): Check[] {
  return ['admin-token', 'admin.json', 'secrets.key', 'twinyard.db']
    .map((name) => join(dataDir, name))
    .filter((path) => existsSync(path))
    .map((path) =>
      (statSync(path).mode & 0o077) === 0
        ? fine('file', path, 'readable by its owner only')
        : finding('file', path, 'has secrets and is open to other users', `run 'chmod 600 ${path}'`),
    );
}

/** Each client connection may need another to a replica. Node raises the soft limit to the hard one when it starts. */
function openFiles({ limits }: GatewayConfig): Check {
  const report = process.report.getReport() as unknown as { userLimits?: { open_files?: { soft: number | string } } };
  const soft = report.userLimits?.open_files?.soft;
  const needed = 2 * limits.connections;
  if (typeof soft !== 'number' || soft >= needed) return fine('limit', 'open files', String(soft ?? 'unknown'));
  const hint = `raise it to ${needed} (ulimit -n, LimitNOFILE of systemd), or lower limits.connections`;
  return finding('limit', 'open files', `the limit of ${soft} is too low for ${limits.connections} clients`, hint);
}
