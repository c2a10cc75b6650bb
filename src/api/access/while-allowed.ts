import type { Caller } from './caller.js';

/** How long a caller is believed to have the rights that it had. */
const CHECK_MS = 1000;

/**
 * The stream for as long as its caller has the rights with which it was opened: a key may be revoked, deleted or expire, and roles
 * be taken away, while a stream goes on for days.
 * @param now who the caller is by now; null for none
 */
export async function* whileAllowed(
  stream: AsyncIterable<string>,
  caller: Caller,
  now: () => Promise<Caller | null>,
  nowMs: () => number,
): AsyncGenerator<string> {
  let checkedMs = nowMs();
  for await (const item of stream) {
    if (nowMs() - checkedMs >= CHECK_MS) {
      const present = await now();
      if (present === null || !hasSameRights(present, caller)) return;
      checkedMs = nowMs();
    }
    yield item;
  }
}

function hasSameRights(a: Caller, b: Caller): boolean {
  return (
    a.role === b.role &&
    a.workspaces.size === b.workspaces.size &&
    [...a.workspaces].every(([workspace, role]) => b.workspaces.get(workspace) === role)
  );
}
