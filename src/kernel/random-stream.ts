/** A named, seeded stream of random numbers. Streams with different names are independent of each other. */
export interface RandomStream {
  /** Uniform in [0, 1), 53 bits. */
  next(): number;
  /** Uniform whole number in [0, bound). */
  below(bound: number): number;
  /** The four state words: save and restore make a decision repeatable. */
  state(): [number, number, number, number];
  restore(state: ArrayLike<number>): void;
}

/** Saves its state often: without an allocation. */
export interface SavableStream extends RandomStream {
  /** Writes the four state words. */
  save(words: Float64Array): void;
}

/** 32-bit FNV-1a of a name, so that a stream's draws depend on its name and not on the order of creation. */
function hashName(name: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

/** splitmix32: spreads a seed over the generator's state words. */
function splitmix(seed: number): () => number {
  let x = seed >>> 0;
  return () => {
    x = (x + 0x9e3779b9) >>> 0;
    let z = x;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
}

/** xoshiro128**, seeded from (seed, name). Seeds are whole numbers up to 2^53. */
export function randomStream(seed: number, name: string): SavableStream {
  const low = splitmix((seed >>> 0) ^ hashName(name));
  const high = splitmix(Math.floor(seed / 2 ** 32) ^ hashName(`${name}/high`));
  let a = low() ^ high();
  let b = low() ^ high();
  let c = low() ^ high();
  let d = low() ^ high() || 1;

  function word(): number {
    const product = Math.imul(b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9);
    const t = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= t;
    d = (d << 11) | (d >>> 21);
    return result >>> 0;
  }

  const next = () => (word() * 2 ** 21 + (word() >>> 11)) / 2 ** 53;
  return {
    next,
    below: (bound) => Math.floor(next() * bound),
    state: () => [a, b, c, d],
    save: (words) => {
      words[0] = a;
      words[1] = b;
      words[2] = c;
      words[3] = d;
    },
    restore: (state) => {
      a = state[0]!;
      b = state[1]!;
      c = state[2]!;
      d = state[3]!;
    },
  };
}
