const EVERY_MS = 15_000;
/** A comment, as server-sent events have them: whoever reads them skips it. */
const PULSE = ': \n\n';

/** The same stream, with a sign of life whenever it has been silent: else clients and those between take it for dead. */
export async function* keptAlive(stream: AsyncIterable<string>, everyMs = EVERY_MS): AsyncGenerator<string> {
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
    // Not waited for: one that has been asked for an item ends when its signal says so.
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
