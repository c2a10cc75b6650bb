import type { AuditEntry } from '../../../store/resources/audit.js';
import { differences } from '../../../store/resources/resource-differences.js';
import { secondText } from './time-text.js';

/** An event as the API returns it. */
export interface EventView {
  readonly id: number;
  readonly kind: string;
  readonly workspace?: string;
  readonly name: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly last_at: string;
}

/** A change as the API returns it. */
export type AuditView = Omit<AuditEntry, 'at'> & { readonly at: string };

export const EVENT_TITLES = ['LAST SEEN', 'TYPE', 'RESOURCE', 'REASON', 'COUNT', 'MESSAGE'];

export function eventRow(event: EventView): string[] {
  const { count, kind, last_at, message, name, reason, type, workspace = '' } = event;
  const line = message.trim().replace(/\s*\n\s*/g, ' | ');
  return [secondText(last_at), type, shownRef(kind, workspace, name), reason, String(count), line];
}

/** Changes that concern the whole resource have no differences to list. */
const WHOLE: readonly string[] = ['create', 'delete', 'remove'];

/** One change: time, actor and action, then the differences. */
export function auditLines({ action, actor, after, at, before, kind, name, workspace }: AuditView): string[] {
  const head = `${secondText(at)}  ${actor}  ${action}  ${shownRef(kind, workspace, name)}`;
  if (WHOLE.includes(action)) return [head];
  const changed = differences(before, after).map(
    (one) => `  ${one.path}: ${valueText(one.before)} -> ${valueText(one.after)}`,
  );
  return [head, ...changed].map((line) => line.replace(/\p{Cc}/gu, '?'));
}

const shownRef = (kind: string, workspace: string, name: string) =>
  workspace === '' ? `${kind} ${name}` : `${kind} ${workspace}/${name}`;

const valueText = (value: unknown) => (value === undefined ? '(absent)' : JSON.stringify(value));
