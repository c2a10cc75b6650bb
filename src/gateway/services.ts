import { isStoreFailure } from '../store/database/errors.js';
import { API_KEY } from '../store/keys/key-record.js';
import type { Store } from '../store/open-store.js';
import type { RemovedWorkspaces, WorkspaceRemoved } from '../store/resources/removed-workspaces.js';
import type { Access } from './access/access.js';
import type { DefiningEndpoints } from './access/known-classes.js';
import { Prices } from './access/prices.js';
import type { GatewayConfig } from './config/gateway-config.js';
import type { GatewayClock } from './gateway-clock.js';
import type { PastTraffic, RequestKeeper } from './history/request-keeper.js';
import { RotatedLines } from './lines/rotated-lines.js';
import { CommitTurn, type Journalled } from './metering/commit-turn.js';
import type { UsageJournal } from './metering/usage-journal.js';
import type { Exchange } from './proxy/exchange.js';
import type { RequestServices } from './proxy/exchange-host.js';
import { newRecordingKey, readRecordingKey } from './recording/recording-key.js';
import { TrafficRecorder } from './recording/traffic-recorder.js';
import type { FinishedRequest, RequestRecord } from './request/request-record.js';
import { AccessLog } from './telemetry/access-log.js';
import type { MetricParts } from './telemetry/metric-sources.js';
import { ProcessMetrics } from './telemetry/process-metrics.js';
import { Tracing } from './telemetry/tracing/tracing.js';

/** How often usage moves from the journal to the store: each time waits for the disk. */
const FOLD_MS = 5000;
/** How often the running sums of streams are written: a killed gateway loses less than a second of them. */
const LIVE_MS = 750;
/** How often requests that have ended are copied into the store: a killed gateway loses those of a second. */
const KEEP_MS = 1000;
/** How long the store may take for what is still to be written at the end. */
const STORE_CLOSE_MS = 5000;

export interface ServiceParts {
  config: GatewayConfig;
  clock: GatewayClock;
  /** As they are now: their policies define SLO classes. */
  endpoints: () => DefiningEndpoints;
  /** What the gateway remembers of requests that have ended. */
  past: () => PastTraffic;
  /** The requests under way. */
  underWay: () => readonly Exchange[];
  /** Forgets what is remembered of a workspace that has been removed. */
  forget: WorkspaceRemoved;
  fault: (error: unknown) => void;
  warn: (line: string) => void;
}

/**
 * What a gateway does with requests besides passing them on: API keys and their accounts, usage, recordings, logs and
 * traces. Each is null unless it is configured.
 */
export class Services implements RequestServices {
  store: Store | null = null;
  /** Knows all API keys, whether or not requests need one; null without a store. */
  holders: Access | null = null;
  /** The same where requests need a key, else null. */
  access: Access | null = null;
  /** Copies requests that have ended into the store. */
  keeper: RequestKeeper | null = null;
  recorder: TrafficRecorder | null = null;
  tracing: Tracing | null = null;
  readonly process = new ProcessMetrics();
  readonly #parts: ServiceParts;
  /** Usage has a price, whether or not keys are required. */
  #prices: Prices;
  #journal: UsageJournal | null = null;
  #turn = new CommitTurn(null);
  #accessLog: AccessLog | null = null;
  #accessLines: RotatedLines | null = null;
  #folder: NodeJS.Timeout | undefined;
  #live: NodeJS.Timeout | undefined;
  #keeping: NodeJS.Timeout | undefined;
  #removed: RemovedWorkspaces | null = null;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    this.#prices = new Prices(parts.config.prices);
  }

  /** Opens what is configured. After an error, what was opened has to be closed all the same. */
  async open(): Promise<void> {
    const { config, clock, fault } = this.#parts;
    const { epochUs } = clock;
    this.process.start();
    if (config.store !== null) await this.#openStore(config.store);
    if (config.accessLog !== null) {
      this.#accessLines = new RotatedLines({ ...config.accessLog, failed: fault });
      this.#accessLog = new AccessLog(this.#accessLines, epochUs);
    }
    if (config.record !== null) await this.#openRecorder(config.record);
    if (config.tracing !== null) this.tracing = await Tracing.open({ ...config.tracing, epochUs });
  }

  /** Opens the journal before the accounts: budgets count the usage of former runs. */
  async #openStore(address: string): Promise<void> {
    const { clock, config, fault, warn } = this.#parts;
    const { epochUs, nowUs } = clock;
    const [{ openStore }, { UsageJournal }, { PublishedClasses }, { RequestKeeper }, { RemovedWorkspaces }] =
      await Promise.all([
        import('../store/open-store.js'),
        import('./metering/usage-journal.js'),
        import('./access/known-classes.js'),
        import('./history/request-keeper.js'),
        import('../store/resources/removed-workspaces.js'),
      ]);
    this.store = await openStore(address);
    this.#journal = await UsageJournal.open(config.dataDir, this.store.usage, {
      epochUs,
      nowUs,
      onFault: fault,
      live: (each) => this.#eachStream(each),
    });
    this.#turn = new CommitTurn(this.#journal);
    const classes = new PublishedClasses(this.store, this.#parts.endpoints);
    await classes.publish();
    this.#folder = setInterval(() => {
      void this.#journal!.fold();
      // What fails is written the next time.
      void classes.publish().catch(() => {});
    }, FOLD_MS);
    this.#live = setInterval(() => this.#journal!.writeLive(), LIVE_MS);
    const keeper = new RequestKeeper({
      ...{ requests: this.store.requests, epochUs, nowUs, past: this.#parts.past(), settings: config.requests },
      ...{ run: this.#journal.run.slice(0, 8), threadUse: threadUse() },
    });
    this.keeper = keeper;
    this.#keeping = setInterval(() => void keeper.turn(), KEEP_MS);
    const { forget } = this.#parts;
    const { requests } = this.store;
    const forgotten: WorkspaceRemoved = async (workspace, untilMs) => {
      await forget(workspace, untilMs);
      // What was on its way into the store.
      await keeper.turn();
      await requests.deleteOf(workspace, 1000 * untilMs);
    };
    // A store that is away is asked again.
    const failed = (error: unknown) => {
      if (!isStoreFailure(error)) fault(error);
    };
    this.#removed = new RemovedWorkspaces(this.store, forgotten, failed);
    await this.#removed.look().catch(failed);
    const { Access } = await import('./access/access.js');
    this.holders = await Access.open({
      store: this.store,
      config: config.access,
      prices: config.prices,
      // A gateway that was killed is replaced at once: its lock is free.
      gatewayId: this.#journal.run,
      deadGateways: this.#journal.deadRuns,
      nowMs: () => (epochUs + nowUs()) / 1000,
      warn,
      // An unreachable store is counted; it is not a bug of the gateway.
      fault: (error) => {
        if (!isStoreFailure(error)) fault(error);
      },
    });
    const { holders } = this;
    if (config.access.keys !== 'off') this.access = holders;
    // Keys that are created, changed or revoked in this process apply at once; a failure is repaired by the next
    // refresh.
    this.store.resources.watch((changes) =>
      changes.some(({ record }) => record.kind === API_KEY) ? holders.refresh() : undefined,
    );
  }

  async #openRecorder(record: NonNullable<GatewayConfig['record']>): Promise<void> {
    const { clock, fault } = this.#parts;
    const key =
      this.store === null
        ? readRecordingKey(`${record.path}.key`)
        : Buffer.from(
            await this.store.settings.getOrCreate('recording_key', () => newRecordingKey().toString('hex')),
            'hex',
          );
    const lines = new RotatedLines({ ...record, failed: fault });
    this.recorder = new TrafficRecorder({ lines, key, epochUs: clock.epochUs });
  }

  configure({ access, prices, requests }: GatewayConfig): void {
    this.keeper?.configure(requests);
    this.#prices = new Prices(prices);
    this.holders?.configure(access, prices);
  }

  /** A request that reached no replica has used nothing. */
  note(request: FinishedRequest, waiter: Journalled): void {
    if (request.attempts === 0) {
      waiter.journalled();
      return;
    }
    this.#journal?.add(request, this.#cost(request));
    this.#turn.wait(waiter);
  }

  #cost({ cachedTokens, inputTokens, model, outputTokens }: FinishedRequest): number {
    return this.#prices.nanos(model, inputTokens, cachedTokens, outputTokens);
  }

  #eachStream(each: (record: RequestRecord, costNanos: number) => void): void {
    for (const exchange of this.#parts.underWay()) {
      const record = exchange.settlement.running();
      if (record !== null) each(record, this.#cost(record));
    }
  }

  ended(exchange: Exchange): void {
    const { endpoint, record, trace } = exchange;
    this.#accessLog?.ended(record, exchange.client);
    this.recorder?.record(record, endpoint.flow.priorities);
    if (trace !== null) this.tracing!.ended(record, trace);
  }

  /** Logs a request that reached no endpoint. */
  refused(id: string, status: number, cause: string, client: string): void {
    this.#accessLog?.refused(id, status, cause, client, this.#parts.clock.nowUs());
  }

  /** The counts of the services, for the metrics. */
  get metrics(): Omit<MetricParts, 'flow'> {
    const journal = this.#journal;
    const logs = new Map<string, RotatedLines>();
    if (this.recorder !== null) logs.set('traffic', this.recorder.lines);
    if (this.#accessLines !== null) logs.set('access', this.#accessLines);
    return {
      process: this.process,
      logs,
      ...(this.access === null ? {} : { access: this.access.counts }),
      ...(journal === null
        ? {}
        : { journal: { faults: journal.failedWrites + journal.failedFolds, pending: journal.waiting } }),
      ...(this.keeper === null ? {} : { kept: this.keeper }),
      ...(this.tracing === null ? {} : { spans: this.tracing }),
    };
  }

  /** Moves usage from the journal to the store. */
  async fold(): Promise<void> {
    await this.#journal?.fold();
  }

  /** Writes pending lines; called several times a second. */
  flush(): void {
    this.#accessLines?.flush();
    this.recorder?.flush();
  }

  /** Called after the last request has ended. Usage that the store does not take now is left to the next run. */
  async close(): Promise<void> {
    const { fault } = this.#parts;
    clearInterval(this.#folder);
    clearInterval(this.#live);
    clearInterval(this.#keeping);
    this.#turn.end();
    await this.tracing?.close();
    await this.#closeStore(fault);
    this.#accessLines?.close();
    this.recorder?.close();
    this.process.stop();
  }

  /** A store that does not respond is closed under what still waits for it. */
  async #closeStore(fault: (error: unknown) => void): Promise<void> {
    const impatience = setTimeout(() => {
      this.#parts.warn(
        'the store does not respond: stopping without it; usage waits in the journal for the next start',
      );
      void this.store?.close();
    }, STORE_CLOSE_MS);
    for (const one of [this.#journal, this.#removed, this.keeper, this.holders]) await one?.close().catch(fault);
    await this.store?.close();
    clearTimeout(impatience);
  }
}

/** The share of the thread that was in use since the last call. */
function threadUse(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
