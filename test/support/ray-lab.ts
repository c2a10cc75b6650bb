import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pidsWith } from '../../src/control/runner/ray/ray-ground.fixture.js';

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url));
/** Every process of the lab carries it: Ray is ended by process ids, since `ray stop` ends all of Ray on a machine. */
const MARK = 'TWINYARD_RAY_LAB';

export interface LabNode {
  /** Any but 127.0.0.1, which Ray replaces with the address of the network. */
  readonly address: string;
  readonly gpus: number;
  readonly labels?: string;
  readonly resources?: string;
}

/** A Ray cluster on this machine, with GPUs that need not exist, from the command of an installed Ray. */
export class RayLab {
  // Short: the path of a socket has at most 107 characters.
  readonly #folder = realpathSync(mkdtempSync('/tmp/tyray-'));
  readonly #env: NodeJS.ProcessEnv;
  readonly #ports: readonly number[];

  private constructor(
    private readonly ray: string,
    private readonly head: LabNode,
    ports: readonly number[],
    env: NodeJS.ProcessEnv,
  ) {
    this.#ports = ports;
    const bin = join(this.#folder, 'twinyard');
    writeFileSync(bin, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
    chmodSync(bin, 0o755);
    this.#env = {
      ...{ ...process.env, PATH: `${this.#folder}:${process.env.PATH}`, RAY_USAGE_STATS_ENABLED: '0' },
      // How long a node waits for its head; a minute by default.
      RAY_gcs_rpc_server_reconnect_timeout_s: '15',
      ...env,
    };
  }

  static async start(ray: string, head: LabNode, env: NodeJS.ProcessEnv = {}): Promise<RayLab> {
    const lab = new RayLab(ray, head, await freePorts(3), env);
    await lab.startHead();
    return lab;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#ports[1]}`;
  }

  async startHead(): Promise<void> {
    const [gcs, dashboard, client] = this.#ports;
    // Another one each time: the agent of a head before may still be ending.
    const [agent] = await freePorts(1);
    const agentPort = ['--dashboard-agent-listen-port', `${agent}`];
    const own = ['--head', '--port', `${gcs}`, '--ray-client-server-port', `${client}`, ...agentPort];
    const seen = ['--dashboard-host', '127.0.0.1', '--dashboard-port', `${dashboard}`, '--disable-usage-stats'];
    const files = ['--temp-dir', this.#folder];
    // While nodes of the old head are ending on this machine, Ray takes it for running.
    for (;;) {
      try {
        await this.#startNode(this.head, [...own, ...seen, ...files], 20_000);
        break;
      } catch (error) {
        if (!String((error as { stderr?: string }).stderr).includes('already running at')) throw error;
        await pause(1000);
      }
    }
    while (
      !(await fetch(`${this.url}/api/version`).then(
        ({ status }) => status < 500,
        () => false,
      ))
    )
      await pause(200);
  }

  async addNode(node: LabNode): Promise<void> {
    const [agent] = await freePorts(1);
    const flags = ['--address', `${this.head.address}:${this.#ports[0]}`, '--dashboard-agent-listen-port', `${agent}`];
    await this.#startNode(node, flags, 21_000);
  }

  hasNode(address: string): boolean {
    return this.#rayletsOf(address).length > 0;
  }

  /** Kills the process that makes a machine a node: the others of it notice and end. */
  killNode(address: string): void {
    for (const pid of this.#rayletsOf(address)) process.kill(pid, 'SIGKILL');
  }

  #rayletsOf(address: string): number[] {
    return pidsWith(`${MARK}=${this.#folder}`).filter((pid) => {
      const words = commandOf(pid);
      return words[0]?.endsWith('/raylet') && words.includes(`--node_ip_address=${address}`);
    });
  }

  /** As a head that loses its power. */
  async killHead(): Promise<void> {
    await killAll(() => pidsWith(`${MARK}=${this.#folder} ${this.head.address}`));
  }

  /** Suspends the dashboard, or lets it go on. */
  signalDashboard(signal: 'SIGSTOP' | 'SIGCONT'): void {
    for (const pid of pidsWith(`${MARK}=${this.#folder}`)) {
      if (commandOf(pid).some((word) => word.endsWith('/dashboard/dashboard.py'))) process.kill(pid, signal);
    }
  }

  async stop(): Promise<void> {
    // Programs of Ray that rename themselves overwrite their environment: they are found by their folder.
    await killAll(() => [...new Set([...pidsWith(`${MARK}=${this.#folder}`), ...pidsIn(this.#folder)])]);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
  }

  async #startNode({ address, gpus, labels, resources }: LabNode, more: readonly string[], from: number) {
    const size = ['--num-cpus', '16', '--num-gpus', `${gpus}`, '--memory', '8000000000'];
    const ports = ['--min-worker-port', `${from}`, '--max-worker-port', `${from + 999}`];
    const what = [
      ...(labels === undefined ? [] : ['--labels', labels]),
      ...(resources === undefined ? [] : ['--resources', resources]),
    ];
    const flags = [
      'start',
      ...more,
      '--node-ip-address',
      address,
      ...size,
      '--object-store-memory',
      '80000000',
      ...ports,
    ];
    const env = { ...this.#env, [MARK]: `${this.#folder} ${address}` };
    await run(this.ray, [...flags, ...what], { env, cwd: this.#folder });
  }
}

/** Kills until none is left. */
async function killAll(list: () => readonly number[]): Promise<void> {
  for (let left = list(); left.length > 0; left = list()) {
    for (const pid of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone meanwhile.
      }
    }
    await pause(50);
  }
}

/** Processes whose working folder is this one or below it. */
function pidsIn(folder: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const cwd = /^\d+$/.test(name) ? readlinkSync(`/proc/${name}/cwd`) : '';
      return `${cwd}/`.startsWith(`${folder}/`) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** Outside of the ports that Ray gives to its workers. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = servers.map((one) => (one.address() as { port: number }).port);
  for (const server of servers) server.close();
  return ports;
}
