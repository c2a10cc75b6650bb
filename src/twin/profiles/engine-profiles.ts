import type { Drift } from '../../gateway/prediction/drift-watch.js';
import type { EngineTraffic } from '../../gateway/prediction/engine-traffic.js';
import type { ObservedEngines } from '../../gateway/prediction/observed-engines.js';
import type {
  DriftReason,
  EngineProfileState,
  PinChange,
  ProfileBook,
  ProfileCounts,
  ProfileDrift,
} from '../../gateway/prediction/profile-book.js';
import { type Care, Cares, restart } from './cares.js';
import { driftReason, factChange, isOther, movedFrom } from './drift-reason.js';
import { nothingToPin, unknownProfileEngine } from './errors.js';
import type { MakeFit } from './fit/fit-thread.js';
import { fitRequest } from './fit-request.js';
import type { ProfileFolder } from './kept-profiles.js';
import { driftMessage, fittedMessage, minutesText, tooFewMessage } from './profile-messages.js';
import { hasEngine, type ProfiledEndpoint, profiledEngines } from './profiled-endpoint.js';
import { ReplicaFacts } from './replica-facts.js';

export interface EngineProfilesParts {
  readonly endpoints: () => ReadonlyMap<string, ProfiledEndpoint>;
  readonly observed: ObservedEngines;
  /** The gateway's clock, and the microseconds since 1970 at which it began. */
  readonly nowUs: () => number;
  readonly epochUs: number;
  /** Null where nothing survives a restart. */
  readonly folder: ProfileFolder | null;
  readonly makeFit: MakeFit;
  /** Prints a line that operators should see. */
  readonly warn: (line: string) => void;
  /** Records an event of an endpoint. */
  readonly event: (endpoint: string, type: 'normal' | 'warning', reason: string, message: string) => void;
}

/**
 * The latency profiles of a gateway's engines: fitted in the background from its traffic, kept if they are better, watched for
 * drift, and handed to the endpoints that predict with them.
 */
export class EngineProfiles implements ProfileBook {
  fitSeconds = 0;
  readonly #parts: EngineProfilesParts;
  readonly #cares = new Cares();
  readonly #facts = new ReplicaFacts();
  readonly #stopped = new AbortController();
  /** The fit under way. */
  #fit: Promise<void> | null = null;
  #restUntilUs = Number.NEGATIVE_INFINITY;

  constructor(parts: EngineProfilesParts) {
    this.#parts = parts;
    for (const kept of parts.folder?.read(parts.warn) ?? []) {
      const care = this.#cares.of(kept.endpoint, kept.engine, kept.uid);
      care.entry.restore(kept);
      care.usual = kept.usual;
    }
  }

  /** Looks after everything once: called every few seconds. */
  async tick(): Promise<void> {
    const { endpoints, observed, nowUs } = this.#parts;
    const present = endpoints();
    observed.keep((endpoint) => present.has(endpoint));
    const replicas = [...present.values()].flatMap((endpoint) => endpoint.replicas.filter(hasEngine));
    await this.#facts.refresh(replicas, nowUs());
    this.#facts.keep(new Set(replicas.map(({ id }) => id)));
    this.#cares.forget((endpoint) => present.has(endpoint));
    for (const endpoint of present.values()) {
      const engines = profiledEngines(endpoint);
      this.#noticeMove(endpoint, engines);
      for (const engine of engines) this.#look(endpoint, engine);
    }
    if (this.#fit === null) this.#fitNext(present);
  }

  /** Resolves when no fit is under way. */
  async settled(): Promise<void> {
    await this.#fit;
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#fit;
  }

  states(endpoint?: string): EngineProfileState[] {
    const present = this.#parts.endpoints();
    const wanted = endpoint === undefined ? [...present.values()] : [present.get(endpoint)].flatMap((one) => one ?? []);
    const nowMs = this.#nowMs();
    return wanted.flatMap((one) => profiledEngines(one).map((engine) => this.#careOf(one, engine).entry.state(nowMs)));
  }

  counts(): ProfileCounts[] {
    const present = this.#parts.endpoints();
    return this.#cares.all().flatMap(({ entry }) => (present.has(entry.endpoint) ? [entry] : []));
  }

  pin(endpoint: string, engine: string, change: PinChange): EngineProfileState {
    const found = this.#parts.endpoints().get(endpoint);
    const known = found === undefined ? [] : profiledEngines(found);
    if (found === undefined || !known.includes(engine)) throw unknownProfileEngine(endpoint, engine, known);
    const care = this.#careOf(found, engine);
    if (care.entry.profile === null && change.profile === undefined && change.isPinned)
      throw nothingToPin(endpoint, engine);
    care.entry.pin(change, care.facts, this.#nowMs());
    if (change.profile !== undefined) restart(care);
    this.#apply(found, care);
    this.#save(care);
    return care.entry.state(this.#nowMs());
  }

  /** The endpoint is gone, and its profiles with it: another one of that name begins without. */
  forget(endpoint: string): void {
    this.#cares.remove(endpoint, (engine) => this.#deleteSaved(endpoint, engine));
  }

  #careOf({ managed, name }: ProfiledEndpoint, engine: string): Care {
    return this.#cares.of(name, engine, managed?.uid ?? null, () => this.#deleteSaved(name, engine));
  }

  #deleteSaved(endpoint: string, engine: string): void {
    try {
      this.#parts.folder?.delete({ endpoint, engine });
    } catch (error) {
      this.#parts.warn(`the profile of endpoint ${endpoint} was not deleted: ${(error as Error).message}`);
    }
  }

  /** Reports replicas on another GPU than the one whose profile there is: it does not apply to them. */
  #noticeMove(endpoint: ProfiledEndpoint, engines: readonly string[]): void {
    const isNew = (engine: string) => !this.#careOf(endpoint, engine).isSeen;
    const known = this.#cares
      .all()
      .filter(
        ({ entry, isSeen }) =>
          entry.endpoint === endpoint.name && entry.profile !== null && (isSeen || !engines.includes(entry.engine)),
      );
    for (const engine of engines.filter(isNew)) {
      const care = this.#careOf(endpoint, engine);
      care.isSeen = true;
      const why =
        care.entry.profile === null
          ? movedFrom(
              known.map(({ entry }) => entry.engine),
              engine,
            )
          : null;
      if (why !== null) this.#report(care, 'gpu', `${why}: nothing is predicted until a profile is fitted`);
    }
  }

  /** Passes the profile on, notices a changed engine, and watches for drift. */
  #look(endpoint: ProfiledEndpoint, engine: string): void {
    const care = this.#careOf(endpoint, engine);
    const nowUs = this.#parts.nowUs();
    const facts = this.#facts.latest(endpoint.replicas.filter((one) => one.engineKey === engine));
    if (facts !== null) {
      if (isOther(care.facts, facts)) care.schedule.sinceUs = nowUs;
      care.facts = facts;
    }
    this.#watch(care, nowUs);
    this.#apply(endpoint, care);
  }

  #watch(care: Care, nowUs: number): void {
    const { entry } = care;
    const traffic = this.#parts.observed.of(entry.endpoint, entry.engine);
    if (traffic !== care.traffic) {
      care.traffic = traffic;
      traffic?.restart(care.usual);
    }
    if (traffic === null) {
      entry.problem = 'too many endpoints: this one is not observed';
      return;
    }
    const drift = traffic.drift.review(nowUs);
    if (drift !== null) {
      const found = this.#drifted(care, drift, 'for ten minutes');
      entry.drift = { ...found, sinceUs: drift.sinceUs };
      care.schedule.hurry(drift.sinceUs);
    }
    if (traffic.drift.drift === null) entry.drift = null;
    if (care.usual === null && traffic.drift.usual !== null) {
      care.usual = traffic.drift.usual;
      this.#save(care);
    }
    if (entry.profile === null) entry.problem = care.schedule.whyNone(traffic) ?? entry.problem;
    else if (entry.source === 'given' || entry.isPinned) entry.judge(traffic);
    entry.kinds = traffic.replicas.note();
  }

  /** Reports a drift, with its likely reason. @param lasted for how long */
  #drifted(care: Care, drift: Drift, lasted: string): Pick<ProfileDrift, 'reason' | 'message'> {
    const { reason, why } = driftReason(care.entry.facts, care.facts, drift);
    return this.#report(care, reason, driftMessage(drift, lasted, why));
  }

  #report({ entry }: Care, reason: DriftReason, message: string): Pick<ProfileDrift, 'reason' | 'message'> {
    entry.drifts[reason]++;
    this.#parts.warn(`endpoint ${entry.endpoint}, engine ${entry.engine}: ${message}`);
    this.#parts.event(entry.endpoint, 'warning', 'ProfileDrift', message);
    return { reason, message };
  }

  /** Starts the fit that is due longest, if the budget allows one. */
  #fitNext(present: ReadonlyMap<string, ProfiledEndpoint>): void {
    const nowUs = this.#parts.nowUs();
    if (nowUs < this.#restUntilUs || this.#stopped.signal.aborted) return;
    const due = this.#cares
      .all()
      .filter(
        ({ entry, schedule, traffic }) =>
          traffic !== null && present.has(entry.endpoint) && schedule.isDue(traffic, entry, nowUs),
      );
    const [first] = due.sort((a, b) => a.schedule.triedUs - b.schedule.triedUs);
    if (first === undefined) return;
    this.#fit = this.#fitOne(first, first.traffic!).finally(() => {
      this.#fit = null;
    });
  }

  async #fitOne(care: Care, traffic: EngineTraffic): Promise<void> {
    const { entry, schedule } = care;
    const { makeFit, nowUs, warn } = this.#parts;
    const columns = traffic.samples.columns(schedule.sinceUs);
    schedule.tried(traffic, nowUs());
    if (entry.profile === null) entry.problem = 'the first fit is under way: nothing is predicted yet';
    const name = `${entry.endpoint}/${entry.engine}`;
    const { assumes, job } = fitRequest(name, columns, care.facts, entry.profile, nowUs());
    try {
      const { busyMs, outcome, restMs } = await makeFit(job, this.#stopped.signal);
      this.fitSeconds += busyMs / 1000;
      this.#restUntilUs = nowUs() + restMs * 1000;
      // An operator's choice outranks a fit that began before it.
      if (entry.isPinned || entry.profile !== job.current) return;
      if (outcome === null) {
        entry.fits.failed++;
        if (entry.profile === null) entry.problem = tooFewMessage(job.columns);
        return;
      }
      const change = factChange(entry.facts, care.facts);
      const isBetter = entry.isBetter(outcome);
      // A fit that comes before the ten minutes are over ends a drift, and must not hide it.
      const drift = isBetter && entry.used !== null ? traffic.drift.pending(nowUs()) : null;
      if (drift !== null) this.#drifted(care, drift, `for ${minutesText(nowUs() - drift.sinceUs)}, until a new fit`);
      entry.take(outcome, care.facts, assumes, this.#nowMs());
      if (!isBetter) return;
      restart(care);
      const message = fittedMessage(entry.engine, outcome.score, change?.why ?? null);
      this.#parts.event(entry.endpoint, 'normal', 'ProfileFitted', message);
      this.#save(care);
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      entry.fits.failed++;
      const problem = `no profile was fitted: ${(error as Error).message}`;
      if (entry.profile === null) entry.problem = problem;
      warn(`endpoint ${entry.endpoint}, engine ${entry.engine}: ${problem}`);
    }
  }

  #apply({ profiles, replicas }: ProfiledEndpoint, { entry }: Care): void {
    for (const { engineKey, id } of replicas) if (engineKey === entry.engine) profiles.set(id, entry.used);
  }

  #save(care: Care): void {
    const { assumes, endpoint, engine, facts, isPinned, madeMs, profile, score, source } = care.entry;
    if (profile === null || source === null || !this.#cares.has(care)) return;
    const { uid, usual } = care;
    try {
      this.#parts.folder?.write({
        ...{ assumes, endpoint, engine, uid, facts, isPinned, madeMs, profile, score, source, usual },
      });
    } catch (error) {
      this.#parts.warn(`the profile of endpoint ${endpoint} was not saved: ${(error as Error).message}`);
    }
  }

  #nowMs(): number {
    return (this.#parts.epochUs + this.#parts.nowUs()) / 1000;
  }
}
