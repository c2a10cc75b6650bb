import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { packagePath } from '../../../files/package-path.js';
import { pidsWith } from './ray-ground.fixture.js';
import { type ReplicaLines, replicaLines } from './replica-lines.js';

/** The program that runs on a node, as Ray starts it. */
let folder: string;
let running: ChildProcess[];
/** Of each test its own: a program that ends kills all processes of its job, also those of the test after it. */
let job: string;
let jobs = 0;
/** Of each process its own: ports of an address are locked by files that all runs of this test share. */
const HOST = `127.${(process.pid >> 16) & 0x7f}.${(process.pid >> 8) & 0xff}.${process.pid & 0xff || 1}`;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'twinyard-ray-')));
  running = [];
  job = `job-${process.pid}-${++jobs}`;
});

afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  for (const pid of marked()) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Gone meanwhile.
    }
  }
  rmSync(folder, { recursive: true });
});

const marked = () => pidsWith(`TWINYARD_RAY_JOB=${job}`);

interface Program {
  readonly child: ChildProcess;
  /** Its lines when a test holds for them, or when it has ended. */
  until(isEnough: (lines: ReplicaLines) => boolean): Promise<ReplicaLines>;
  readonly ended: Promise<number | null>;
}

/** @param script of sh */
function start(script: string, change: object = {}, env: Record<string, string> = {}): Program {
  const facts = { job, host: HOST, ports: [31_500, 31_599], gpus: 0, command: 'sh', args: ['-c', script] };
  writeFileSync(join(folder, 'replica.json'), JSON.stringify({ ...facts, env: {}, secretEnv: {}, ...change }));
  copyFileSync(packagePath('deploy', 'ray', 'replica.py'), join(folder, 'replica.py'));
  const child = spawn('python3', ['replica.py'], {
    ...{ cwd: folder, env: { PATH: process.env.PATH, ...env } },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.push(child);
  let text = '';
  const looks = new Set<() => void>();
  child.stdout!.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
    for (const look of looks) look();
  });
  const closed = new Promise<void>((resolve) => child.stdout!.on('close', () => resolve()));
  const ended = new Promise<number | null>((resolve) => child.on('exit', (code) => resolve(code)));
  const lines = () => replicaLines(text.split('\n').slice(0, -1));
  const until = (isEnough: (lines: ReplicaLines) => boolean) =>
    new Promise<ReplicaLines>((resolve) => {
      const look = () => isEnough(lines()) && resolve(lines());
      looks.add(look);
      look();
      void closed.then(() => resolve(lines()));
    });
  return { child, until, ended };
}

const texts = ({ engine }: ReplicaLines) => engine.map(({ text }) => text);
const isOver = ({ report }: ReplicaLines) => report.code !== undefined || report.signal !== undefined;

test('reports address, port and process first, then numbered lines, then how the engine ended', async () => {
  const env = { A: '{{host}}:{{port}} in {{working_folder}}' };
  // Without GPUs of its own it sees none.
  const program = start(
    'echo "$A"; echo "oops $CUDA_VISIBLE_DEVICES" >&2; exit 3',
    { env },
    { CUDA_VISIBLE_DEVICES: '0' },
  );
  const lines = await program.until(isOver);
  expect(lines.report).toEqual({
    ...{ address: HOST, port: expect.any(Number), pid: program.child.pid, devices: '' },
    ...{ code: 3, signal: null },
  });
  expect(texts(lines)).toEqual([`${HOST}:${lines.report.port} in ${folder}/work`, 'oops ']);
  expect(lines.engine.map(({ number }) => number)).toEqual([1, 2]);
  expect(await program.ended).toBe(3);
});

test('keeps secrets out of the log and of its folder, and the environment of Ray from the engine', async () => {
  const env = { RAY_AUTH_TOKEN: 'secret', CUDA_VISIBLE_DEVICES: '3', LANG: 'C' };
  const script = 'echo "key=$KEY."; echo "$RAY_AUTH_TOKEN $CUDA_VISIBLE_DEVICES $LANG"; sleep 1000';
  const program = start(script, { gpus: 1, secretEnv: { KEY: 'hush-hush-hush' } }, env);
  // Of the environment of Ray the engine gets a small base, and the devices that Ray has chosen.
  expect(texts(await program.until(({ engine }) => engine.length > 1))).toEqual(['key=***.', ' 3 C']);
  expect(existsSync(join(folder, 'replica.json'))).toBe(false);
});

test('ends the engine with SIGTERM, and gives it time', async () => {
  const program = start("trap 'echo ending; exit 0' TERM; echo up; while :; do sleep 0.01; done");
  await program.until(({ engine }) => engine.length > 0);
  program.child.kill('SIGTERM');
  const lines = await program.until(isOver);
  expect(texts(lines)).toEqual(['up', 'ending']);
  expect(lines.report).toMatchObject({ code: 0, signal: null });
  expect(await program.ended).toBe(0);
});

test('leaves no process behind when it is killed, in any session', async () => {
  const program = start("trap '' TERM; setsid sleep 1000 & echo up; while :; do sleep 0.01; done");
  await program.until(({ engine }) => engine.length > 0);
  program.child.kill('SIGKILL');
  expect((await program.until(isOver)).report).toMatchObject({ signal: 'SIGKILL' });
  expect(marked()).toEqual([]);
});

test('dies with the process that started it', async () => {
  copyFileSync(packagePath('deploy', 'ray', 'replica.py'), join(folder, 'replica.py'));
  // As a supervisor of Ray that is killed.
  const script = 'import subprocess, time; subprocess.Popen(["python3", "replica.py"]); time.sleep(1000)';
  const facts = { job, host: HOST, ports: [31_500, 31_599], gpus: 0, command: 'sleep', args: ['1000'] };
  writeFileSync(join(folder, 'replica.json'), JSON.stringify({ ...facts, env: {}, secretEnv: {} }));
  const parent = spawn('python3', ['-c', script], { cwd: folder, stdio: 'ignore' });
  running.push(parent);
  while (marked().length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  parent.kill('SIGKILL');
  while (marked().length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
});

test('gives each replica of a node a port of its own, and reports when none is left', async () => {
  const one = start('sleep 1000', { ports: [31_600, 31_600] });
  expect((await one.until(({ report }) => report.port !== undefined)).report.port).toBe(31_600);
  const other = start('sleep 1000', { ports: [31_600, 31_600] });
  expect((await other.until(({ report }) => report.problem !== undefined)).report.problem).toBe(
    `no port of 31600-31600 is free on ${HOST}`,
  );
  expect(await other.ended).toBe(1);
});

test('reports a command that the node does not have', async () => {
  const program = start('', { command: 'no-such-engine' });
  expect((await program.until(isOver)).report).toMatchObject({
    ...{ problem: "'no-such-engine' is no program on this node", code: 127 },
  });
  expect(await program.ended).toBe(127);
});
