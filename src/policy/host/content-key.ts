/**
 * Names what a prompt begins with, so that prompts that begin alike have the same key: its first full block, else its session,
 * else the request itself.
 * @param block the id of the first full block; null when there is none, or when it is known that no other prompt has it
 */
export function contentKey(block: number | string | null, session: string, requestId: string): string {
  if (block !== null) return `block:${block}`;
  return session === '' ? requestId : `session:${session}`;
}
