/** Bytes of text counted as one token where no tokenizer is configured. */
export const TOKEN_BYTES = 4;

/** The estimated tokens of a number of UTF-8 bytes. */
export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / TOKEN_BYTES);
}

/** The estimated tokens of a text. */
export function estimateTokens(text: string): number {
  return tokensOfBytes(Buffer.byteLength(text));
}
