/** Splits what comes in pieces into lines: with every piece those that it completes. The last one needs no line end. */
export async function* lineBatches(pieces: AsyncIterable<string | Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of pieces) {
    const text = typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true });
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    yield lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield [rest];
}
