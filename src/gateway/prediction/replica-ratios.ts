/** Predictions of a replica before it is compared with others. */
const LEAST_OF_ONE = 50;
/** Replicas beyond this many are not compared. */
const MOST_REPLICAS = 1024;
/** Two groups differ by this factor, and by twice as much as the replicas within either of them. */
const LEAST_FACTOR = 1.25;
const APART = 2;
/** Names in a note. */
const MOST_NAMED = 3;

interface Ratios {
  count: number;
  /** Of the logarithms of true over predicted times per token. */
  sum: number;
}

/** How fast each replica of one engine is against its common profile: replicas of different hardware need profiles of their own. */
export class ReplicaRatios {
  readonly #replicas = new Map<string, Ratios>();

  add(replica: string, predictedUs: number, trueUs: number): void {
    let ratios = this.#replicas.get(replica);
    if (ratios === undefined) {
      if (this.#replicas.size >= MOST_REPLICAS) return;
      ratios = { count: 0, sum: 0 };
      this.#replicas.set(replica, ratios);
    }
    ratios.count++;
    ratios.sum += Math.log(trueUs / predictedUs);
  }

  clear(): void {
    this.#replicas.clear();
  }

  /** What a common profile assumes although there are two kinds of replicas; null when there seem to be none. */
  note(): string | null {
    const means = [...this.#replicas]
      .filter(([, { count }]) => count >= LEAST_OF_ONE)
      .map(([id, { count, sum }]) => ({ id, mean: sum / count }))
      .sort((a, b) => a.mean - b.mean);
    const at = widestGap(means.map(({ mean }) => mean));
    if (at < 0) return null;
    const [quick, slow] = [means.slice(0, at), means.slice(at)];
    const factor = Math.exp(meanOf(slow) - meanOf(quick));
    const hint = "replicas of different GPUs need their 'hardware' in the configuration";
    return `all replicas are alike, although ${named(slow)} take ${factor.toFixed(1)} times as long per token as ${named(quick)}: ${hint}`;
  }
}

interface Mean {
  readonly id: string;
  readonly mean: number;
}

/** Where the second of two groups begins; -1 where they do not differ clearly. */
function widestGap(means: readonly number[]): number {
  let at = -1;
  let widest = Math.log(LEAST_FACTOR);
  for (let i = 1; i < means.length; i++) {
    const gap = means[i]! - means[i - 1]!;
    if (gap < widest) continue;
    widest = gap;
    at = i;
  }
  if (at < 0) return -1;
  const within = Math.max(means[at - 1]! - means[0]!, means.at(-1)! - means[at]!);
  return widest >= APART * within ? at : -1;
}

const meanOf = (group: readonly Mean[]) => group.reduce((sum, { mean }) => sum + mean, 0) / group.length;

function named(group: readonly Mean[]): string {
  const names = group.slice(0, MOST_NAMED).map(({ id }) => id);
  const rest = group.length - names.length;
  return `${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
