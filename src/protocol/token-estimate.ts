/** Bytes of text that stand for one token where no tokenizer is configured. */
export const TOKEN_BYTES = 4;

/** Tokens that so many bytes of UTF-8 are taken for. */
export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / TOKEN_BYTES);
}

/** Tokens that a text is taken for. */
export function estimateTokens(text: string): number {
  return tokensOfBytes(Buffer.byteLength(text));
}
