const EVERY_MS = 15_000;
/** A comment of server-sent events, which readers skip. */
const PULSE = ': \n\n';

/** The same stream with a comment whenever it has been silent: clients and proxies would take it for dead otherwise. */
export async function* keepAlive(stream: AsyncIterable<string>, everyMs = EVERY_MS): AsyncGenerator<string> {
  const items = stream[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<string>> | null = null;
  try {
    for (;;) {
      next ??= items.next();
      const item = await withinMs(next, everyMs);
      if (item === null) {
        yield PULSE;
        continue;
      }
      next = null;
      if (item.done) return;
      yield item.value;
    }
  } finally {
    // Not awaited: a source that waits for its next item ends by its signal.
    items.return?.().catch(() => {});
  }
}

/** Null when it takes longer. */
async function withinMs<Value>(promise: Promise<Value>, ms: number): Promise<Value | null> {
  let timer: NodeJS.Timeout;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
