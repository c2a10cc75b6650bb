/** Writes a text's 64-bit hash as two unsigned words: the upper to out[0], the lower to out[1]. */
export type Hash64 = (text: string, out: Uint32Array) => void;
