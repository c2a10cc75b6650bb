import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { BenchTable } from '../bench-table.js';

/**
 * Many concurrent streams for a minute, through the gateway to four emulated engines in separate processes: no error,
 * no memory growth after the first third, and the cost of a token. Arguments: streams, seconds, and the engines' speed,
 * which is low so that two cores can carry clients, gateway and engines.
 */
const [streams = 1000, secondsLong = 60, speed = 0.25] = process.argv.slice(2).map(Number);
const cli = join(fileURLToPath(new URL('../../../', import.meta.url)), 'dist/bundle/main.js');
const ENGINES = [9701, 9702, 9703, 9704];
const PORT = 9700;
const started: ChildProcess[] = [];

function start(...args: (string | number)[]): ChildProcess {
  const child = spawn(process.execPath, [cli, ...args.map(String)], { stdio: 'ignore' });
  started.push(child);
  return child;
}

async function ready(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/models`).catch(() => null);
    if (response?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing answers on port ${port}`);
}

/** Of a process: memory in MB, and seconds of processor time so far. */
function usage(pid: number): { memoryMb: number; cpuS: number } {
  const memory = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1];
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return { memoryMb: Number(memory) / 1024, cpuS: (Number(fields[11]) + Number(fields[12])) / 100 };
}

let tokens = 0;
let finished = 0;
let errors = 0;
let over = false;
const agent = new Agent({ connections: streams, headersTimeout: 0, bodyTimeout: 0 });

async function client(number: number): Promise<void> {
  for (let turn = 0; !over; turn++) {
    const messages = [{ role: 'user', content: `stream ${number}, turn ${turn}: ${'tell me more. '.repeat(20)}` }];
    const body = JSON.stringify({ model: 'qwen/qwen3-14b', messages, stream: true, max_tokens: 100, ignore_eos: true });
    try {
      const response = await request(`http://127.0.0.1:${PORT}/v1/chat/completions`, {
        method: 'POST',
        body,
        dispatcher: agent,
      });
      let text = '';
      for await (const piece of response.body) text += piece;
      tokens += text.split('"content":"').length - 1;
      if (response.statusCode === 200 && text.endsWith('data: [DONE]\n\n')) finished++;
      else errors++;
    } catch {
      errors++;
    }
  }
}

try {
  for (const port of ENGINES) start('engine', '--model', 'qwen/qwen3-14b', '--port', port, '--speed', speed);
  await Promise.all(ENGINES.map(ready));
  const replicas = ENGINES.flatMap((port) => ['--replica', `http://127.0.0.1:${port}`]);
  const gateway = start('serve', ...replicas, '--port', PORT, '--admin-port', PORT + 9);
  await ready(PORT);
  const pid = gateway.pid!;
  const begun = usage(pid);
  const clients = Array.from({ length: streams }, (_, number) => client(number));
  const memory: number[] = [];
  for (let second = 0; second < secondsLong; second++) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    memory.push(usage(pid).memoryMb);
  }
  over = true;
  await Promise.all(clients);
  const ended = usage(pid);
  const third = Math.floor(memory.length / 3);
  const warm = Math.max(...memory.slice(third, 2 * third));
  const last = Math.max(...memory.slice(2 * third));
  const table = new BenchTable();
  table.report(
    `${streams} streams, ${secondsLong} s`,
    `${finished} answers, ${errors} errors`,
    'no error',
    errors === 0 && finished > 0,
  );
  table.report(
    'memory: second third, last third',
    `${warm.toFixed(0)} MB, ${last.toFixed(0)} MB`,
    '<= 1.1 x',
    last <= warm * 1.1,
  );
  const perToken = ((ended.cpuS - begun.cpuS) * 1e6) / tokens;
  table.report(
    'processor time of the gateway',
    `${perToken.toFixed(0)} us per piece of an answer, ${tokens} pieces`,
    '',
    null,
  );
  table.print();
} finally {
  for (const child of started) child.kill('SIGTERM');
  await agent.destroy();
}
