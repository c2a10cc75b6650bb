/** A whole body as text; undefined when it is longer than `mostBytes`, of which nothing more is read then. */
export async function readResponseText(
  body: AsyncIterable<Uint8Array>,
  mostBytes: number,
): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > mostBytes) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
