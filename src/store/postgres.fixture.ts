import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { freePort } from '../kernel/free-port.fixture.js';

/** A PostgreSQL server for a test, on loopback and in a temporary folder. */
export interface TestPostgres {
  /** The address of a schema that is not used yet. */
  freshUrl(): Promise<string>;
  /** Runs a statement as the superuser. */
  run(sql: string): Promise<void>;
  readonly password: string;
  /** May be called more than once. */
  stop(): Promise<void>;
}

const PASSWORD = 'correct-horse';

/** Empty databases that were initialised once, for copies: initialising takes longer than most suites. */
const TEMPLATES = fileURLToPath(new URL('../../node_modules/.cache/twinyard-postgres', import.meta.url));

/** The folder of PostgreSQL's programs; null where it is not installed, and its tests are skipped. */
export const POSTGRES_PROGRAMS = programsFolder();

function programsFolder(): string | null {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...versions.map((one) => join(debian, one, 'bin'))];
  return folders.find((one) => ['initdb', 'postgres'].every((name) => existsSync(join(one, name)))) ?? null;
}

/** PostgreSQL refuses to run as root: then it runs as another user of the system. */
function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  if (user === undefined) throw new Error('neither a user postgres nor a user nobody');
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

/** Stops the server when its input ends, so also when the test process is killed. */
const GUARD = '"$@" & server=$!; read -r _; kill -INT $server; wait $server';

/** Writes the files of an empty database into `data`, which does not exist yet. @param folder a temporary one of the user */
function initialise(data: string, folder: string, user: { uid?: number; gid?: number }): void {
  const version = execFileSync(join(POSTGRES_PROGRAMS!, 'postgres'), ['--version'], { encoding: 'utf8' });
  const template = join(TEMPLATES, `${version.trim().replace(/\W+/g, '-')}-${user.uid ?? process.getuid?.()}`);
  if (!existsSync(template)) {
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, PASSWORD, { mode: 0o644 });
    const args = ['-D', data, '-U', 'twinyard', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8', '-N'];
    execFileSync(join(POSTGRES_PROGRAMS!, 'initdb'), args, { ...user, cwd: folder, stdio: 'ignore' });
    const fresh = `${template}.${process.pid}`;
    mkdirSync(TEMPLATES, { recursive: true });
    execFileSync('cp', ['-a', data, fresh]);
    try {
      renameSync(fresh, template);
    } catch {
      // Another process was first.
      rmSync(fresh, { recursive: true });
    }
    return;
  }
  execFileSync('cp', ['-a', template, data]);
}

export async function startPostgres(): Promise<TestPostgres> {
  const user = unprivileged();
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-postgres-'));
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid!);
  const data = join(folder, 'data');
  initialise(data, folder, user);
  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'fsync=off'];
  const server = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
  const guard = spawn('sh', ['-c', GUARD, 'sh', join(POSTGRES_PROGRAMS!, 'postgres'), ...server], {
    ...user,
    cwd: folder,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = once(guard, 'exit');
  const url = `postgres://twinyard:${PASSWORD}@127.0.0.1:${port}/postgres`;
  await responses(url);
  let parts = 0;
  const run = async (sql: string) => {
    const client = new pg.Client(url);
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  return {
    password: PASSWORD,
    run,
    async freshUrl() {
      const part = `part_${++parts}`;
      await run(`create schema ${part}`);
      return `${url}?options=${encodeURIComponent(`-c search_path=${part}`)}`;
    },
    async stop() {
      guard.stdin!.end();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves when the server accepts connections; fails after half a minute. */
async function responses(url: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const client = new pg.Client(url);
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (attempt === 300) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
