import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BenchTable } from '../bench-table.js';
import { SOAK_ADMIN_PORT, SoakClients, SoakFleet, usageOf } from './soak-fleet.js';

/** Shadows that read load, prefixes, sessions and predictions. */
const SHADOWS = ['lmetric', 'unified', 'sticky', 'predicted-latency'];
/** Sessions of some turns with system prompts that some share; about 40 requests per second, which the engines carry easily. */
const CLIENTS = 40;
const PAUSE_MS = 1600;
const TURNS = 5;
const PROMPTS = 12;
/** Room for decisions and requests kept is small, so that all of it is in use early: what grows after that is a leak. */
const MOST_DECISIONS = 1000;
const MOST_ROWS = 1000;
/** From the end of a what-if job to the next one; the first comes when there is something to replay. */
const JOB_AFTER_S = 40;
const MOST_FIT_SHARE = 0.05;
const MOST_GROWTH = 1.1;
/** Seconds of a third that are enough to compare it. */
const LEAST_SAMPLES = 5;
const api = `http://127.0.0.1:${SOAK_ADMIN_PORT}`;

/** The memory of a gateway at a second of the soak; a job was under way or not. */
interface Sample {
  readonly atS: number;
  readonly memoryMb: number;
  readonly isJob: boolean;
}

/**
 * Everything of the live twin for some minutes: shadows, profiles that are fitted in the background, predictions, requests kept in the
 * store, a recording, and a what-if job now and then. Memory stays bounded, fits take at most 5 % of a core, nothing fails.
 */
export async function twinSoak(secondsLong: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-soak-'));
  const fleet = new SoakFleet();
  const table = new BenchTable();
  const load = loadavg()[0]!;
  try {
    await fleet.startEngines(1);
    const pid = await fleet.startGateway('-c', configOf(folder, fleet.urls));
    const token = readFileSync(join(folder, 'data', 'admin-token'), 'utf8').trim();
    const jobs = new WhatIfJobs(token);
    const begun = usageOf(pid);
    const begunMs = performance.now();
    const clients = new SoakClients(CLIENTS, turnOf);
    const samples: Sample[] = [];
    const asides: number[] = [];
    let before = begun;
    let quietS = 0;
    for (let atS = 1; atS <= secondsLong; atS++) {
      await pause(1000);
      const now = usageOf(pid);
      const isJob = jobs.isUnderWay;
      samples.push({ atS, memoryMb: now.memoryMb, isJob });
      if (!isJob) asides.push(now.cpuS - now.mainS - before.cpuS + before.mainS);
      before = now;
      quietS = isJob ? 0 : quietS + 1;
      if (quietS === JOB_AFTER_S) jobs.ask();
      if (atS % 10 === 0) process.stderr.write(`${atS} s: ${now.memoryMb.toFixed(0)} MB${isJob ? ', a job' : ''}\n`);
    }
    await clients.stop();
    await jobs.settled();
    const elapsedS = (performance.now() - begunMs) / 1000;
    const ended = usageOf(pid);
    const metrics = await metricsOf();
    reportRequests(table, clients, secondsLong, metrics);
    reportMemory(table, samples);
    reportFits(table, metrics, elapsedS, asides);
    reportShadows(table, metrics);
    table.report('what-if jobs', jobs.summary, 'none fails', jobs.isFine);
    const perRequest = ((ended.cpuS - begun.cpuS) * 1e6) / clients.finished;
    table.report('processor time of the gateway', `${perRequest.toFixed(0)} us per request, jobs included`, '', null);
    table.report('load of the machine before', load.toFixed(1), '', null);
    table.print();
  } finally {
    fleet.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function configOf(folder: string, urls: readonly string[]): string {
  const config = join(folder, 'twinyard.yaml');
  writeFileSync(
    config,
    `store: ${join(folder, 'soak.db')}
data_dir: ${join(folder, 'data')}
record: ${join(folder, 'traffic.jsonl')}
access: {keys: off}
requests: {most_rows: ${MOST_ROWS}}
limits: {decisions: ${MOST_DECISIONS}, log_bytes: 8000000, log_files: 2}
replicas:
${urls.map((url) => `  - url: ${url}\n`).join('')}policy:
  routing: {policy: round-robin}
  shadow:
${SHADOWS.map((policy) => `    - policy: ${policy}\n`).join('')}`,
  );
  return config;
}

async function turnOf(client: number, turn: number): Promise<object> {
  await pause(Math.random() * PAUSE_MS);
  const session = Math.floor(turn / TURNS);
  const system = `You are the assistant of shop ${client % PROMPTS}. ${'Be brief, kind and exact. '.repeat(30)}`;
  const messages = [{ role: 'system', content: system }];
  for (let i = 0; i <= turn % TURNS; i++) {
    messages.push({ role: 'user', content: `Client ${client}, session ${session}, question ${i}: what now?` });
    if (i < turn % TURNS) messages.push({ role: 'assistant', content: 'It depends on what was said before.' });
  }
  return { messages, max_tokens: 24, user: `${client}-${session}` };
}

/** Questions to the running gateway, one at a time. */
class WhatIfJobs {
  isUnderWay = false;
  #done = 0;
  readonly #failures: string[] = [];
  readonly #headers: Record<string, string>;
  #last = Promise.resolve();

  constructor(token: string) {
    this.#headers = { authorization: `Bearer ${token}` };
  }

  ask(): void {
    this.isUnderWay = true;
    this.#last = this.#run()
      .catch((error: Error) => void this.#failures.push(error.message))
      .finally(() => {
        this.isUnderWay = false;
      });
  }

  settled(): Promise<void> {
    return this.#last;
  }

  get isFine(): boolean {
    return this.#failures.length === 0;
  }

  get summary(): string {
    return [`${this.#done} done`, ...this.#failures].join('; ');
  }

  async #run(): Promise<void> {
    const { headers } = { headers: this.#headers };
    const body = JSON.stringify({ policies: [{ policy: 'lmetric' }], last: '1m', runs: 5 });
    const url = `${api}/api/v1/workspaces/default/endpoints/default/whatif`;
    const asked = await fetch(url, { method: 'POST', headers, body });
    let job = (await asked.json()) as { id: string; state: string; error: { message: string } | null };
    while (job.state === 'waiting' || job.state === 'running') {
      await pause(500);
      job = (await (await fetch(`${api}/api/v1/jobs/${job.id}`, { headers })).json()) as typeof job;
    }
    if (job.state === 'done') this.#done++;
    else this.#failures.push(job.error?.message ?? `status ${asked.status}, ${job.state}`);
  }
}

type Metrics = (pattern: RegExp) => number;

/** Sums of samples of the gateway's metrics. */
async function metricsOf(): Promise<Metrics> {
  const text = await (await fetch(`${api}/metrics`)).text();
  return (pattern) =>
    text
      .split('\n')
      .filter((line) => pattern.test(line))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

function reportRequests(table: BenchTable, { errors, finished }: SoakClients, secondsLong: number, sum: Metrics): void {
  const faults = sum(/^twinyard_faults_total /);
  table.report(
    `${CLIENTS} clients, ${secondsLong} s, the twin on`,
    `${finished} responses, ${errors} errors, ${faults} faults`,
    'no error',
    errors + faults === 0 && finished > 0,
  );
  const [kept, lost] = [sum(/^twinyard_requests_kept_total /), sum(/^twinyard_requests_not_kept_total/)];
  table.report('requests kept in the store', `${kept}, ${lost} not kept`, 'all', kept > 0 && lost === 0);
}

/** Seconds without a job are compared, or seconds with one where that is under way most of the time: its threads have heaps of their own. */
function reportMemory(table: BenchTable, samples: readonly Sample[]): void {
  const third = samples.length / 3;
  const lateOf = (isJob: boolean) => samples.filter((one) => one.isJob === isJob && one.atS > third);
  const partsOf = (isJob: boolean) => {
    const late = lateOf(isJob);
    const isLast = ({ atS }: Sample) => atS > 2 * third;
    return [late.filter((one) => !isLast(one)), late.filter(isLast)].map((part) =>
      part.map(({ memoryMb }) => memoryMb),
    );
  };
  const isComparable = (isJob: boolean) => partsOf(isJob).every(({ length }) => length >= LEAST_SAMPLES);
  const isJob = !isComparable(false);
  const [warm, last] = partsOf(isJob).map((part) => Math.max(...part)) as [number, number];
  table.report(
    `memory ${isJob ? 'during' : 'without'} jobs: second third, last third`,
    isComparable(isJob)
      ? `${warm.toFixed(0)} MB, ${last.toFixed(0)} MB`
      : 'too few seconds to compare: run it for longer',
    `<= ${MOST_GROWTH} x`,
    isComparable(isJob) && last <= warm * MOST_GROWTH,
  );
  const slope = `${(60 * slopeOf(lateOf(isJob))).toFixed(2)} MB per minute`;
  table.report('memory: slope after the first third', slope, '', null);
  const peak = Math.max(...samples.map(({ memoryMb }) => memoryMb));
  table.report('memory: peak, jobs included', `${peak.toFixed(0)} MB`, '', null);
}

/** MB per second, by least squares. */
function slopeOf(samples: readonly Sample[]): number {
  const meanOf = (of: (one: Sample) => number) => samples.reduce((sum, one) => sum + of(one), 0) / samples.length;
  const [atS, memoryMb] = [meanOf((one) => one.atS), meanOf((one) => one.memoryMb)];
  const square = meanOf((one) => (one.atS - atS) ** 2);
  return meanOf((one) => (one.atS - atS) * (one.memoryMb - memoryMb)) / square;
}

/** @param asides seconds of processor time of all threads but the main one, in seconds without a job */
function reportFits(table: BenchTable, sum: Metrics, elapsedS: number, asides: readonly number[]): void {
  const fits = sum(/^twinyard_profile_fits_total/);
  const share = sum(/^twinyard_profile_fit_seconds_total /) / elapsedS;
  table.report(
    'background fits: share of a core',
    `${(100 * share).toFixed(1)} %, ${fits} fits`,
    `<= ${100 * MOST_FIT_SHARE} %`,
    fits > 0 && share <= MOST_FIT_SHARE,
  );
  const aside = asides.reduce((all, one) => all + one, 0) / Math.max(1, asides.length);
  table.report('all threads but the main one, without jobs', `${(100 * aside).toFixed(1)} % of a core`, '', null);
  const compared = sum(/^twinyard_predictions_total/);
  const error = sum(/^twinyard_prediction_error\{.*metric="ttft".*stat="mean"/);
  const text = compared === 0 ? 'no profile yet' : `${(100 * error).toFixed(1)} %, ${compared} requests`;
  table.report('predicted TTFT: mean error', text, '', null);
}

function reportShadows(table: BenchTable, sum: Metrics): void {
  const made = sum(/^twinyard_shadow_decisions_total\{.*placements="real"/);
  const dropped = sum(/^twinyard_shadow_dropped_total/);
  const stopped = sum(/^twinyard_shadow_stopped/);
  const share = ((100 * dropped) / Math.max(1, made + dropped)).toFixed(1);
  table.report(
    `${SHADOWS.length} shadows`,
    `${made} decisions, ${share} % dropped, ${stopped} stopped`,
    'none stopped',
    made > 0 && stopped === 0,
  );
}
