import { InputError, RunError } from '../../kernel/errors.js';
import type { AuditEntry } from './audit.js';
import { differences, type FieldDifference } from './resource-differences.js';
import type { ResourceRecord, ResourceRef } from './resource-record.js';

/** What can be wrong with a change of resources. Codes are stable and start with RESOURCE_ or SECRETS_. */

/** `Endpoint default/chat`, `Engine vllm`. A secret that was given for a name is not repeated. */
export const shownRef = ({ kind, name, workspace }: ResourceRef) => {
  const shown = name.startsWith('ty_') ? 'ty_***' : name;
  return workspace === '' ? `${kind} ${shown}` : `${kind} ${workspace}/${shown}`;
};

export const unknownResource = (ref: ResourceRef) =>
  new InputError('RESOURCE_UNKNOWN', shownRef(ref), 'does not exist', 'list the resources to see those that do');

export const deletingResource = (ref: ResourceRef) =>
  new InputError('RESOURCE_DELETING', shownRef(ref), 'is being deleted', 'wait until it is deleted');

/** The resource was changed by another client first. Nothing was changed. */
export class ResourceConflict extends RunError {
  /**
   * How the resource differs from the version that the change was made for, without secrets; empty if that is not
   * known.
   */
  readonly differences: readonly FieldDifference[];

  constructor(
    /** The resource now; null when it does not exist. */
    readonly current: ResourceRecord | null,
    ref: ResourceRef,
    /** The version the change was made for; null for a resource that must not exist. */
    readonly expected: number | null,
    /** The changes since, oldest first. */
    readonly since: readonly AuditEntry[],
  ) {
    const found = since.length === 0 ? [] : differences(since[0]!.before, since.at(-1)!.after);
    super('RESOURCE_CONFLICT', `${shownRef(ref)}: ${problemOf(current, expected, since, found)}`);
    this.differences = found;
  }
}

const MOST_SHOWN = 5;

function problemOf(
  current: ResourceRecord | null,
  expected: number | null,
  since: readonly AuditEntry[],
  found: readonly FieldDifference[],
): string {
  if (current === null) return `no longer exists (the change is for version ${expected})`;
  if (expected === null) return `already exists (version ${current.resourceVersion})`;
  const actors = [...new Set(since.map(({ actor }) => actor))].join(', ');
  const shown = found
    .slice(0, MOST_SHOWN)
    .map(
      ({ after, before, path }) =>
        `${path} was ${JSON.stringify(before) ?? 'absent'}, is ${JSON.stringify(after) ?? 'absent'}`,
    );
  if (found.length > MOST_SHOWN) shown.push(`and ${found.length - MOST_SHOWN} more`);
  const what = shown.length === 0 ? '' : `: ${shown.join('; ')}`;
  return `has been changed since version ${expected}${actors === '' ? '' : ` by ${actors}`}${what}; it is at version ${current.resourceVersion} now`;
}

export const badKeyFile = (path: string, problem: string, hint: string) =>
  new InputError('SECRETS_KEY_FILE', path, problem, hint);

export const otherKeyFile = (path: string) =>
  new InputError(
    'SECRETS_OTHER_KEY',
    path,
    'is not the key file that the secrets in the store were sealed with',
    'restore the original key file, or apply the resources with their secrets again',
  );

export const brokenSecret = (path: string) =>
  new RunError('SECRETS_BROKEN', `${path}: a secret in the store is damaged`);
