/** Amounts by the name of the resource: CPUs, bytes, devices. */
export type Quantities = Readonly<Record<string, number>>;

interface Requesting {
  readonly restartPolicy?: string;
  readonly resources?: { readonly requests?: Record<string, string>; readonly limits?: Record<string, string> };
}

/** What the scheduler counts for a pod: all its containers together, or the largest one that runs before them if that is more. */
export function podDemand({ spec }: { readonly spec: object }): Quantities {
  const parts = spec as { containers: readonly Requesting[]; initContainers?: readonly Requesting[] };
  const { overhead } = spec as { overhead?: Record<string, string> };
  const all: Record<string, number> = { ...quantities(overhead) };
  const add = (amounts: Quantities) => {
    for (const [name, amount] of Object.entries(amounts)) all[name] = (all[name] ?? 0) + amount;
  };
  const before: Quantities[] = [];
  for (const one of parts.initContainers ?? []) {
    // A sidecar runs as long as the engine.
    if (one.restartPolicy === 'Always') add(demandOf(one));
    else before.push(demandOf(one));
  }
  for (const one of parts.containers) add(demandOf(one));
  for (const amounts of before) {
    for (const [name, amount] of Object.entries(amounts)) all[name] = Math.max(all[name] ?? 0, amount);
  }
  return all;
}

/** A limit without a request is requested. */
const demandOf = ({ resources }: Requesting) => quantities({ ...resources?.limits, ...resources?.requests });

export const quantities = (given: Readonly<Record<string, string>> = {}): Quantities =>
  Object.fromEntries(Object.entries(given).map(([name, text]) => [name, quantity(text)]));

const SUFFIXES: Readonly<Record<string, number>> = {
  ...{ n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 },
};

/** A quantity of Kubernetes as a number: `500m`, `16Gi`; 0 for none. */
export function quantity(text: string | undefined): number {
  const [, number, suffix] = /^([\d.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(text ?? '') ?? [];
  return number === undefined ? 0 : Number(number) * (suffix ? (SUFFIXES[suffix] ?? 0) : 1);
}
