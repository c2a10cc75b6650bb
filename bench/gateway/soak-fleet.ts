import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';

const cli = join(fileURLToPath(new URL('../../../', import.meta.url)), 'dist/bundle/main.js');
const ENGINES = [9701, 9702, 9703, 9704];
const TICKS_PER_SECOND = 100;

export const SOAK_MODEL = 'qwen/qwen3-14b';
export const SOAK_PORT = 9700;
export const SOAK_ADMIN_PORT = 9709;

/** Emulated engines and a gateway, in processes of their own. */
export class SoakFleet {
  readonly urls = ENGINES.map((port) => `http://127.0.0.1:${port}`);
  readonly #started: ChildProcess[] = [];

  async startEngines(speed: number): Promise<void> {
    for (const port of ENGINES) this.#start('engine', '--model', SOAK_MODEL, '--port', port, '--speed', speed);
    await Promise.all(ENGINES.map(ready));
  }

  /** Returns its process id. */
  async startGateway(...args: string[]): Promise<number> {
    const gateway = this.#start('serve', ...args, '--port', SOAK_PORT, '--admin-port', SOAK_ADMIN_PORT);
    await ready(SOAK_PORT);
    return gateway.pid!;
  }

  stop(): void {
    for (const child of this.#started) child.kill('SIGTERM');
  }

  #start(...args: (string | number)[]): ChildProcess {
    const child = spawn(process.execPath, [cli, ...args.map(String)], { stdio: 'ignore' });
    this.#started.push(child);
    return child;
  }
}

async function ready(port: number): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/models`).catch(() => null);
    if (response?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing listens on port ${port}`);
}

/** Of a process: memory in MB, and seconds of processor time so far, of all threads and of the main one. */
export function usageOf(pid: number): { memoryMb: number; cpuS: number; mainS: number } {
  const memory = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1];
  return {
    memoryMb: Number(memory) / 1024,
    cpuS: secondsOf(`/proc/${pid}/stat`),
    mainS: secondsOf(`/proc/${pid}/task/${pid}/stat`),
  };
}

function secondsOf(path: string): number {
  const fields = readFileSync(path, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Clients that stream one response after the other until they are stopped. */
export class SoakClients {
  tokens = 0;
  finished = 0;
  errors = 0;
  #isOver = false;
  readonly #agent: Agent;
  readonly #clients: Promise<void>[];

  /** @param next the body of a client's next request, after its pause */
  constructor(count: number, next: (client: number, turn: number) => Promise<object> | object) {
    this.#agent = new Agent({ connections: count, headersTimeout: 0, bodyTimeout: 0 });
    this.#clients = Array.from({ length: count }, (_, client) => this.#run(client, next));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    await this.#agent.destroy();
  }

  async #run(client: number, next: (client: number, turn: number) => Promise<object> | object): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++) {
      const body = JSON.stringify({ model: SOAK_MODEL, stream: true, ignore_eos: true, ...(await next(client, turn)) });
      try {
        const response = await request(`http://127.0.0.1:${SOAK_PORT}/v1/chat/completions`, {
          method: 'POST',
          body,
          dispatcher: this.#agent,
        });
        let text = '';
        for await (const piece of response.body) text += piece;
        this.tokens += text.split('"content":"').length - 1;
        if (response.statusCode === 200 && text.endsWith('data: [DONE]\n\n')) this.finished++;
        else this.errors++;
      } catch {
        this.errors++;
      }
    }
  }
}
