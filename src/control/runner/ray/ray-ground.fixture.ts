import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { RayClient } from '../../../ray/ray-client.js';
import { isEnded } from '../../../ray/ray-job.js';
import { RayJobs } from '../../../ray/ray-jobs.js';
import { readUse } from '../../../ray/ray-nodes.js';
import { httpTransport, type RayAccess } from '../../../ray/ray-transport.js';
import type { ReplicaHandle, ReplicaSpec } from '../contract.js';
import { type FakeBehaviour, fakeSpec, tellFake } from '../fake-engine.fixture.js';
import { responds } from '../readiness.js';
import type { EngineOrder, RunnerGround } from '../runner.contract.js';
import type { RayRunnerOptions } from './ray-context.js';
import { type Exchange, type RayRecorder, RayReplayer } from './ray-recording.fixture.js';
import { RayRunner } from './ray-runner.js';
import { replicaLines } from './replica-lines.js';
import { replicaOfJob } from './replica-record.js';

const CLUSTER = 'lab';
const MARK = `TWINYARD_RAY_JOB=twinyard-${CLUSTER}-`;
/** A job that was deleted at once is listed again by Ray within a second or two. */
const GHOST_MS = 2500;
const PACE_MS = 250;
const TIMING = {
  ...{ idleMs: 200, movingMs: 100, awayMs: 500 },
  readiness: { everyMs: 100, timeoutMs: 5000, failures: 2 },
};

/** A real Ray cluster on this machine; its jobs are deleted after the test. */
export class RayGround implements RunnerGround {
  readonly faults: Error[] = [];
  readonly folder = mkdtempSync(join(tmpdir(), 'twinyard-ray-'));
  readonly jobs: RayJobs;
  readonly #client: RayClient;
  #runner: RayRunner | null = null;

  constructor(
    readonly access: RayAccess,
    /** Writes down what happens, for the replay in `npm test`. */
    readonly recorder: RayRecorder | null = null,
  ) {
    this.#client = new RayClient(access.url, httpTransport(access));
    this.jobs = new RayJobs(this.#client);
  }

  async open(change: Partial<RayRunnerOptions> = {}): Promise<RayRunner> {
    const { caFile, token, url } = this.access;
    this.#runner = await RayRunner.open({
      cluster: CLUSTER,
      folder: this.folder,
      settings: { ray: { url, token, caFile, ports: [31_000, 31_099] } },
      timing: TIMING,
      transport: (access) => this.recorder?.transport(httpTransport(access)) ?? httpTransport(access),
      responds: this.recorder?.responds(responds) ?? responds,
      onFault: (error) => this.faults.push(error),
      ...change,
    });
    return this.#runner;
  }

  spec(id: string, behaviour?: FakeBehaviour, change: Partial<ReplicaSpec> = {}): ReplicaSpec {
    return fakeSpec(id, behaviour, { ...change, env: { FAKE_HOST: '{{host}}', ...change.env } });
  }

  async tell(replica: ReplicaHandle, what: EngineOrder): Promise<void> {
    const { id } = replica;
    this.recorder?.step(tellStep(replica, what));
    const find = async () => (await this.#runner!.list()).find((one) => one.id === id);
    let now = await find();
    // Its log may be read before its port is known.
    while (now?.exit === null && now.url.endsWith(':1')) {
      await pause(PACE_MS);
      now = await find();
    }
    await tellFake(now ?? replica, what);
    if (typeof what === 'object' && 'say' in what) while (!(await this.#linesOf(id)).includes(what.say));
  }

  /** What the log of a replica has. */
  async #linesOf(id: string): Promise<string[]> {
    const job = (await this.jobs.list()).find((one) => replicaOfJob(one, CLUSTER)?.id === id)!;
    const lines = await this.jobs.logTail(job.submission_id!, job.driver_node_id!, 100);
    return replicaLines(lines).engine.map(({ text }) => text);
  }

  async remove({ id }: ReplicaHandle): Promise<void> {
    this.recorder?.step(`remove ${id}`);
    const job = (await this.jobs.list()).find((one) => replicaOfJob(one, CLUSTER)?.id === id)!;
    await this.jobs.stop(job.submission_id!);
  }

  async processes(): Promise<number> {
    const { length } = pidsWith(MARK);
    return this.recorder?.seen('processes', length) ?? length;
  }

  async clear(): Promise<void> {
    for (const pid of pidsWith(MARK)) process.kill(pid, 'SIGKILL');
    for (let quietMs = 0; quietMs < GHOST_MS; quietMs += PACE_MS) {
      await pause(PACE_MS);
      const left = (await this.jobs.list()).filter(({ submission_id }) =>
        submission_id!.startsWith(`twinyard-${CLUSTER}-`),
      );
      if (left.length > 0) quietMs = 0;
      for (const job of left) {
        if (isEnded(job)) await this.jobs.delete(job.submission_id!);
        else await this.jobs.stop(job.submission_id!);
      }
    }
    // A runner that knows nothing of them counts what Ray has not released yet as the use of others.
    while ([...(await readUse(this.#client)).byNode.values()].some(({ gpus }) => gpus > 0)) await pause(200);
    await this.#client.close();
    rmSync(this.folder, { recursive: true });
  }
}

const tellStep = ({ id }: ReplicaHandle, what: EngineOrder) => `tell ${id} ${JSON.stringify(what)}`;

/** What was recorded of a cluster; nothing runs. */
export class RayReplayGround implements RunnerGround {
  readonly #folder = mkdtempSync(join(tmpdir(), 'twinyard-ray-'));
  readonly #replayer: RayReplayer;

  constructor(exchanges: readonly Exchange[]) {
    this.#replayer = new RayReplayer(exchanges);
  }

  open(): Promise<RayRunner> {
    return RayRunner.open({
      cluster: CLUSTER,
      folder: this.#folder,
      settings: {},
      timing: { idleMs: 5, movingMs: 5, awayMs: 5, readiness: { everyMs: 5, timeoutMs: 5000, failures: 2 } },
      transport: () => this.#replayer,
      responds: this.#replayer.responds,
    });
  }

  readonly spec = fakeSpec;

  async tell(replica: ReplicaHandle, what: EngineOrder): Promise<void> {
    this.#replayer.step(tellStep(replica, what));
  }

  async remove({ id }: ReplicaHandle): Promise<void> {
    this.#replayer.step(`remove ${id}`);
  }

  async processes(): Promise<number> {
    return this.#replayer.seen('processes');
  }

  async clear(): Promise<void> {
    rmSync(this.#folder, { recursive: true });
  }
}

/** Processes with a text in their environment. */
export function pidsWith(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark);
      } catch {
        return false;
      }
    })
    .map(Number);
}
