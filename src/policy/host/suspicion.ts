import { type AwaitedWork, FirstByteWaits } from './first-byte-waits.js';

const FIRST_PAUSE_US = 2_000_000;
const LONGEST_PAUSE_US = 60_000_000;
/** After a longer gap between reviews the process itself was asleep: bytes that have arrived are not read yet. */
const GAP_US = 1_000_000;
const NONE = -1;

/**
 * Whether a request should be tried elsewhere because it has no first byte. `late`: requests sent after it have theirs; `suspect`:
 * its replica is.
 */
export type Lateness = 'in time' | 'late' | 'suspect';

/** What is known of a replica. Times are -1 for what has not happened. */
interface WatchedReplica {
  /** Since when it is suspect, and why. */
  sinceUs: number;
  reason: string;
  /** The request that probes it, when the next one may, and how many have failed. */
  probe: number;
  probeAtUs: number;
  failedProbes: number;
  /** When its last byte of any response came, and its last first byte. */
  heardUs: number;
  firstByteUs: number;
  /** When the latest request was sent that got its first byte in time. */
  provenUs: number;
  /** Its last first byte was not in time. */
  wasLate: boolean;
  /** It can take requests, as far as its world knows. */
  isReady: boolean;
  /** Requests that wait for their first byte. */
  waiting: number;
  readySinceUs: number;
}

/**
 * Which replicas take requests and give nothing back. A replica is suspect when a request has waited for its first byte far longer
 * than such requests do, nothing else has come from the replica meanwhile, and another replica may be better: it was in time for
 * a later request, or nothing waits there and its last first byte was not late. Suspects are removed before every pick, whatever the policy,
 * while a trusted replica can take the request. One request at a time probes a suspect, after growing pauses; any first byte makes
 * it trusted again.
 *
 * A function of its calls: times are given, and nothing is drawn. Without suspects a pick costs one comparison.
 */
export class Suspicion {
  /** The requests that it watches, and the limits of their time. */
  readonly waits = new FirstByteWaits();
  /** Called when a replica becomes suspect or is trusted again. */
  onChange: (replica: number, isSuspect: boolean, reason: string) => void = () => {};
  #suspects = 0;
  #reviewedUs = NONE;

  /** By slot. */
  #replicas: WatchedReplica[] = [];

  isSuspect(replica: number): boolean {
    return this.#suspects > 0 && this.#replicas[replica]!.sinceUs >= 0;
  }

  /** Why a replica is suspect; empty when it is trusted. */
  reasonOf(replica: number): string {
    return this.isSuspect(replica) ? this.#replicas[replica]!.reason : '';
  }

  /**
   * Removes suspects from the replicas that may take a request, unless no other may.
   * @param removed by slot; null where the replica may take it
   * @param mayProbe whether the request may probe a suspect
   */
  remove(removed: (string | null)[], nowUs: number, mayProbe: boolean): void {
    if (this.#suspects === 0) return;
    const replicas = this.#replicas;
    let trusted = 0;
    for (let slot = 0; slot < replicas.length; slot++) {
      if (removed[slot] === null && replicas[slot]!.sinceUs < 0) trusted++;
    }
    if (trusted === 0) return;
    for (let slot = 0; slot < replicas.length; slot++) {
      const { probe, probeAtUs, reason, sinceUs } = replicas[slot]!;
      if (removed[slot] !== null || sinceUs < 0) continue;
      const isProbed = mayProbe && probe === NONE && nowUs >= probeAtUs;
      if (!isProbed) removed[slot] = reason;
    }
  }

  /** A request goes to a replica. */
  placed(request: number, replica: number, work: AwaitedWork, nowUs: number): void {
    this.left(request, nowUs);
    const watched = this.#replicas[replica]!;
    this.waits.begin(request, replica, watched.firstByteUs < 0, work, nowUs);
    watched.waiting++;
    if (watched.sinceUs >= 0 && watched.probe === NONE) watched.probe = request;
  }

  /** @param isServed it begins a successful response, whose time is worth learning */
  firstByte(request: number, isServed: boolean, nowUs: number): void {
    const { waits } = this;
    const replica = waits.end(request);
    if (replica === NONE) return;
    const watched = this.#replicas[replica]!;
    const sentUs = waits.sentUs[request]!;
    const isLate = nowUs - sentUs > waits.patienceUs[request]!;
    if (isServed) waits.learn(request, nowUs);
    watched.waiting--;
    watched.heardUs = nowUs;
    watched.firstByteUs = nowUs;
    watched.wasLate = isLate;
    if (!isLate) watched.provenUs = Math.max(watched.provenUs, sentUs);
    if (watched.sinceUs >= 0) {
      this.#trust(replica, `responds again: it was suspect for ${seconds(nowUs - watched.sinceUs)}`);
    }
  }

  /** A request has left its replica, without a first byte unless `firstByte` was called. */
  left(request: number, nowUs: number): void {
    const { waits } = this;
    const replica = waits.end(request);
    if (replica === NONE) return;
    const watched = this.#replicas[replica]!;
    watched.waiting--;
    if (watched.probe !== request) return;
    watched.probe = NONE;
    // A probe that left early shows nothing: the next request may probe.
    if (nowUs - waits.sentUs[request]! < waits.patienceUs[request]!) return;
    watched.failedProbes++;
    watched.probeAtUs = nowUs + Math.min(FIRST_PAUSE_US * 2 ** watched.failedProbes, LONGEST_PAUSE_US);
  }

  /**
   * When the last byte of any response came from a replica, and since when it is ready: one that was started again is trusted again.
   * To be called before a review.
   * @param readySinceUs -1 for one that cannot take requests now
   */
  observe(replica: number, heardUs: number, readySinceUs: number): void {
    const watched = this.#replicas[replica]!;
    watched.isReady = readySinceUs >= 0;
    if (heardUs > watched.heardUs) watched.heardUs = heardUs;
    if (readySinceUs <= watched.readySinceUs) return;
    watched.readySinceUs = readySinceUs;
    if (watched.firstByteUs < readySinceUs) watched.firstByteUs = NONE;
    if (watched.sinceUs >= 0) this.#trust(replica, 'is ready again');
  }

  /** Finds suspects; to be called several times a second. */
  review(nowUs: number): void {
    const wasAsleep = nowUs - this.#reviewedUs > GAP_US;
    this.#reviewedUs = nowUs;
    if (wasAsleep) return;
    const { most, replicaOf } = this.waits;
    for (let request = 0; request < most; request++) {
      const replica = replicaOf[request]!;
      if (replica === NONE || this.isSuspect(replica)) continue;
      if (this.#isSilent(request, replica, nowUs) && this.#isAlone(request, replica)) {
        this.#suspect(replica, request, nowUs);
      }
    }
  }

  lateness(request: number, nowUs: number): Lateness {
    const { waits } = this;
    const replica = waits.replica(request);
    if (replica === NONE) return 'in time';
    const waitedUs = nowUs - waits.sentUs[request]!;
    const patienceUs = waits.patienceUs[request]!;
    if (this.isSuspect(replica)) {
      return this.#replicas[replica]!.probe !== request || waitedUs >= patienceUs ? 'suspect' : 'in time';
    }
    if (waits.isLearned[request] === 0 || waitedUs < 2 * patienceUs) return 'in time';
    return this.#replicas.some(({ provenUs }) => provenUs > waits.sentUs[request]!) ? 'late' : 'in time';
  }

  /** The fleet has changed, as in `RouterLedger.rearrange`. */
  rearrange(from: Int32Array): void {
    const before = this.#replicas;
    this.waits.rearrange(from);
    this.#replicas = Array.from(from, (slot) => before[slot] ?? newReplica());
    this.#suspects = this.#replicas.filter(({ sinceUs }) => sinceUs >= 0).length;
  }

  /**
   * Whether nothing has come from the replica for as long as the request may wait. One that still sends tokens of older requests may
   * have no room for new ones: it has twice the time.
   */
  #isSilent(request: number, replica: number, nowUs: number): boolean {
    const sentUs = this.waits.sentUs[request]!;
    const patienceUs = this.waits.patienceUs[request]!;
    const { firstByteUs, heardUs } = this.#replicas[replica]!;
    const silentUs = nowUs - Math.max(sentUs, firstByteUs);
    if (silentUs < patienceUs) return false;
    return silentUs >= 2 * patienceUs || nowUs - Math.max(sentUs, heardUs) >= patienceUs;
  }

  /** Whether another replica may be better, so that not all are slow. */
  #isAlone(request: number, replica: number): boolean {
    const sentUs = this.waits.sentUs[request]!;
    const isLearned = this.waits.isLearned[request] === 1;
    for (let other = 0; other < this.#replicas.length; other++) {
      const { isReady, provenUs, sinceUs, waiting, wasLate } = this.#replicas[other]!;
      if (other === replica || sinceUs >= 0 || !isReady) continue;
      if (provenUs > sentUs || (isLearned && !wasLate && waiting === 0)) return true;
    }
    return false;
  }

  #suspect(replica: number, request: number, nowUs: number): void {
    const waited = seconds(nowUs - this.waits.sentUs[request]!);
    const expectedUs = this.waits.expectedUs(request);
    const usual = Number.isNaN(expectedUs) ? 'other replicas respond' : `${seconds(expectedUs)} expected`;
    const watched = this.#replicas[replica]!;
    this.#suspects++;
    watched.sinceUs = nowUs;
    watched.probe = NONE;
    watched.probeAtUs = nowUs + FIRST_PAUSE_US;
    watched.failedProbes = 0;
    watched.reason = `suspect: no first byte for ${waited}, ${usual}`;
    this.onChange(replica, true, watched.reason);
  }

  #trust(replica: number, reason: string): void {
    const watched = this.#replicas[replica]!;
    this.#suspects--;
    watched.sinceUs = NONE;
    watched.probe = NONE;
    this.onChange(replica, false, reason);
  }
}

function newReplica(): WatchedReplica {
  return {
    sinceUs: NONE,
    reason: '',
    probe: NONE,
    probeAtUs: NONE,
    failedProbes: 0,
    heardUs: NONE,
    firstByteUs: NONE,
    provenUs: NONE,
    wasLate: false,
    isReady: true,
    waiting: 0,
    readySinceUs: NONE,
  };
}

function seconds(us: number): string {
  return us < 1e6 ? `${Math.ceil(us / 1000)} ms` : `${(us / 1e6).toFixed(1)} s`;
}
