import { measuredEngine } from '../../engines/registry.js';
import { missingSignals } from '../../engines/signals.js';
import type { EndpointConfig, GatewayConfig, ReplicaConfig } from '../../gateway/config/gateway-config.js';
import { networkProblem } from '../../protocol/http-client/network-problem.js';
import { readSamples } from '../../protocol/prometheus/read-samples.js';
import { type Check, clockCheck, finding, fine } from './check.js';
import { type FetchedPage, getPage } from './get-page.js';

/** Checks the replicas of the configuration from this machine, all at once: health, models, signals, clock, version. */
export async function checkReplicas({ endpoints, health }: GatewayConfig): Promise<Check[]> {
  const checks = await Promise.all(endpoints.map((endpoint) => checkEndpoint(endpoint, health.timeoutMs)));
  return checks.flat();
}

interface Seen {
  readonly id: string;
  readonly checks: readonly Check[];
  /** Null when the engine does not report one. */
  readonly version: string | null;
}

async function checkEndpoint({ name, replicas }: EndpointConfig, timeoutMs: number): Promise<Check[]> {
  const seen = await Promise.all(replicas.map((replica) => checkReplica(replica, timeoutMs)));
  return [...seen.flatMap(({ checks }) => checks), ...checkVersions(name, seen)];
}

async function checkReplica({ engine, id, models, url }: ReplicaConfig, timeoutMs: number): Promise<Seen> {
  const place = id === new URL(url).host ? id : `${id} (${new URL(url).origin})`;
  const page = (path: string) => getPage(new URL(path, url).href, timeoutMs);
  let health: FetchedPage;
  try {
    health = await page('/health');
  } catch (error) {
    const { message } = error as Error;
    const problem = message.startsWith('no response') ? message : networkProblem(error);
    return { id, version: null, checks: [finding('replica', place, problem, 'start its engine, or correct its url')] };
  }
  if (health.status !== 200) {
    const hint = 'wait until its model is loaded, or read the log of its engine';
    const checks = [finding('replica', place, `/health returned status ${health.status}`, hint)];
    return { id, version: null, checks };
  }
  const { signals, version } = measuredEngine(engine, id);
  const checks = [
    await checkModels(place, models, page),
    await checkSignals(place, engine, signals, page),
    ...(health.aheadMs === null ? [] : [clockCheck(place, health.aheadMs)]),
  ];
  const found = version.read((await document(page, version.path)) ?? {});
  return { id, checks, version: found ?? null };
}

type Read = (path: string) => Promise<FetchedPage>;

/** A JSON page; null when there is none. */
async function document(page: Read, path: string): Promise<object | null> {
  try {
    const { status, text } = await page(path);
    const value: unknown = status === 200 ? JSON.parse(text) : null;
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/** @param models those of the configuration; null when the replica is queried */
async function checkModels(place: string, models: readonly string[] | null, page: Read): Promise<Check> {
  const status = await page('/v1/models').then(
    (list) => list.status,
    () => 0,
  );
  if (status === 401 || status === 403) {
    const hint = 'start it without one, or declare it as an external endpoint with its key';
    return finding('replica', place, 'requires an API key, which the gateway does not send to replicas', hint);
  }
  const list = (await document(page, '/v1/models')) as { data?: readonly { id?: unknown }[] } | null;
  const listed = (list?.data ?? []).map(({ id }) => id).filter((id) => typeof id === 'string');
  const served = models ?? listed;
  return served.length > 0
    ? fine('replica', place, `ready, serves ${served.join(', ')}`)
    : finding('replica', place, '/v1/models names no model', "set 'model' of the replica, or correct its url");
}

async function checkSignals(
  place: string,
  engine: string,
  signals: ReturnType<typeof measuredEngine>['signals'],
  page: Read,
): Promise<Check> {
  const hint = `check that it is ${engine}, and that its metrics are enabled`;
  let text: string;
  try {
    const metrics = await page('/metrics');
    if (metrics.status !== 200) return finding('signals', place, `/metrics returned status ${metrics.status}`, hint);
    text = metrics.text;
  } catch {
    return finding('signals', place, 'cannot be read from /metrics', hint);
  }
  const report = signals.read(readSamples(text));
  if (signals.extra !== undefined) signals.extra.read(await document(page, signals.extra.path), report);
  const missing = missingSignals(signals, report);
  return missing.length === 0
    ? fine('signals', place, `reports ${signals.gives.join(', ')}`)
    : finding('signals', place, `does not report ${missing.join(', ')}`, hint);
}

/** Replicas of one endpoint with different versions differ in speed and in what they accept. */
function checkVersions(endpoint: string, seen: readonly Seen[]): Check[] {
  const known = seen.filter((one): one is Seen & { version: string } => one.version !== null);
  const versions = new Set(known.map(({ version }) => version));
  if (versions.size === 0) return [];
  const place = `endpoint ${endpoint}`;
  if (versions.size === 1) return [fine('version', place, `${[...versions][0]} on all replicas that report one`)];
  const list = known.map(({ id, version }) => `${id} ${version}`).join(', ');
  return [finding('version', place, `its replicas run different versions (${list})`, 'upgrade all to one version')];
}
