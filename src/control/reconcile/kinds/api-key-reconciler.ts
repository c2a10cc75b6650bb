import type { Keys } from '../../../store/keys/keys.js';
import type { ResourceRef } from '../../../store/resources/resource-record.js';
import type { ApiKeySpec } from '../../resources/kinds/api-key.js';
import type { Status } from '../../resources/resource.js';
import { syncKey } from '../../store/api-keys.js';
import type { ControlStore } from '../../store/control-store.js';
import type { Reconciler } from '../queue/reconciler.js';
import type { Timing } from '../queue/timing.js';

/** Applies ApiKeys to the keys that gateways check: limits, roles and expiry. */
export class ApiKeyReconciler implements Reconciler {
  readonly kind = 'ApiKey';

  constructor(
    private readonly store: ControlStore,
    private readonly keys: Keys,
    private readonly timing: Timing,
  ) {}

  async reconcile(ref: ResourceRef): Promise<number | null> {
    await syncKey(this.store, this.keys, ref);
    const record = await this.store.resources.get(ref);
    if (record === null) return null;
    const { expires_at } = record.spec as ApiKeySpec;
    const leftMs = expires_at === undefined ? null : Date.parse(expires_at) - this.timing.now();
    const before = record.status as Status | null;
    const phase = phaseOf(before, leftMs);
    if (phase !== before?.phase) {
      const message = phase === 'Pending' ? 'its secret has not been issued yet' : '';
      await this.store.putStatus(ref, record.uid, {
        ...before,
        phase,
        message,
        observed_generation: record.generation,
      });
    }
    return leftMs === null || leftMs <= 0 ? null : leftMs;
  }
}

function phaseOf(status: Status | null, leftMs: number | null): string {
  if (status?.key_id === undefined) return 'Pending';
  return leftMs !== null && leftMs <= 0 ? 'Expired' : 'Active';
}
