/** Longest line of a watch: an object of the API server is at most about 1.5 MB in etcd. */
const MOST_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

/** The JSON values of a stream with one value in each line. A last line without its end is dropped: it is not complete. */
export async function* jsonLines<T>(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<T> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      parts.push(chunk.subarray(from, end));
      const line = Buffer.concat(parts).toString('utf8').trim();
      parts = [];
      length = 0;
      from = end + 1;
      if (line !== '') yield JSON.parse(line) as T;
    }
    if (from === chunk.length) continue;
    parts.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > MOST_LINE_BYTES) throw new Error(`a line has more than ${MOST_LINE_BYTES} bytes`);
  }
}
