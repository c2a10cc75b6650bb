import { type PlainChange, writePlainAudit } from '../../store/resources/audit.js';
import type { ApiHost } from '../api-host.js';
import { withoutSecrets } from '../without-secrets.js';

/** Records a change of the gateway in the audit log, once it has taken effect. A gateway without a store keeps no log. */
export async function auditChange(host: ApiHost, actor: string, change: PlainChange): Promise<void> {
  if (!host.hasStore) return;
  const { store } = host;
  const now = await store.now();
  const [before, after] = [change.before, change.after].map((one) => withoutSecrets(one) as object | null);
  await store.exclusively((tx) => writePlainAudit(tx, actor, now, { ...change, before: before!, after: after! }));
}
