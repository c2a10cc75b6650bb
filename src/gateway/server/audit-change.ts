import { type PlainChange, writePlainAudit } from '../../store/resources/audit.js';
import type { AdminHost } from './admin-host.js';
import { withoutSecrets } from './without-secrets.js';

/**
 * Writes down who changed what, once it is changed. A gateway without a store keeps no account. Rejects when the store fails: who
 * asked is told, and may ask again.
 */
export async function auditChange({ store }: AdminHost, by: string, change: PlainChange): Promise<void> {
  if (store === null) return;
  const now = await store.now();
  const [before, after] = [change.before, change.after].map((one) => withoutSecrets(one) as object | null);
  await store.exclusively((tx) => writePlainAudit(tx, by, now, { ...change, before: before!, after: after! }));
}
