import type { KeySpec } from '../../store/keys/key-schema.js';
import { type CliIo, tableWidth } from '../io.js';
import type { ShownKey } from './key-api.js';

/** How a key is named on the command line. */
export const ONE_KEY = { usage: 'KEY', least: 1, most: 1 };

/** Prints an ApiKey as text or as a document. */
export async function printKey(key: ShownKey, format: string, io: CliIo): Promise<void> {
  if (format === 'json') {
    io.stdout.write(`${JSON.stringify(key, null, 2)}\n`);
    return;
  }
  const { stackedTables } = await import('../../report/text/text-table.js');
  const lines = stackedTables(rowsOf(key), ['left', 'left'], tableWidth(io.stdout, io.env)).flat();
  io.stdout.write(`${lines.join('\n')}\n`);
}

/** Prints the secret of a key, alone on its line, with a note on stderr; or a document with both. */
export function printIssued(key: ShownKey, secret: string, format: string, note: string, io: CliIo): void {
  if (format === 'json') {
    io.stdout.write(`${JSON.stringify({ ...key, key: secret }, null, 2)}\n`);
    return;
  }
  io.stderr.write(`twinyard: ${note}\n`);
  io.stdout.write(`${secret}\n`);
}

const specOf = ({ spec }: ShownKey) => spec as KeySpec;

/** What a table shows of a key. */
export function keyFields(key: ShownKey) {
  const { expires_at, models, role, tenant } = specOf(key);
  const { name, uid } = key.metadata;
  const { hint, phase } = key.status as { phase: string; hint?: string };
  return {
    name,
    id: uid!,
    phase,
    tenant: tenant ?? name,
    models: models === undefined ? 'all' : models.join(', '),
    role,
    secret: hint === undefined ? 'not issued' : `...${hint}`,
    expires: expires_at === undefined ? 'never' : timeText(expires_at),
  };
}

function rowsOf(key: ShownKey): string[][] {
  const { expires, id, models, name, phase, role, tenant } = keyFields(key);
  const { hint, previous_until, revoked_at } = key.status as Record<string, string | undefined>;
  const { grants, limits, max_slo_class } = specOf(key);
  const lines = limitLines(limits);
  return [
    ['name', name],
    ['workspace', key.metadata.workspace!],
    ['id', id],
    ['phase', phase],
    ['secret', hint === undefined ? 'not issued' : `ty_${id}_...${hint}`],
    ['tenant', tenant],
    ['models', models],
    ...grantLines(grants).map((line, i) => [i === 0 ? 'grants' : '', line]),
    ['max SLO class', max_slo_class ?? 'any'],
    ['role', role],
    ...(lines.length === 0 ? ['none'] : lines).map((line, i) => [i === 0 ? 'limits' : '', line]),
    ['created', timeText(key.metadata.created_at!)],
    ['expires', expires],
    ...(revoked_at === undefined ? [] : [['revoked', timeText(revoked_at)]]),
    ...(previous_until === undefined ? [] : [['old secret until', timeText(previous_until)]]),
  ];
}

/** `2026-01-31T18:00:00.000Z` as `2026-01-31 18:00 UTC`. */
export function timeText(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** A line for each workspace that a key reaches besides its own: `search: llama-8b, qwen-14b`. */
function grantLines(grants: KeySpec['grants']): string[] {
  return grants.map(({ models, workspace }) => {
    const where = workspace === '*' ? 'every workspace' : workspace;
    return models === undefined ? where : `${where}: ${models.join(', ')}`;
  });
}

/** A line for each model: `all models: requests per minute 60, tokens per day 100000`. */
function limitLines(limits: KeySpec['limits']): string[] {
  return Object.entries(limits).map(([model, of]) => {
    const list = Object.entries(of).map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`);
    return `${model === '*' ? 'all models' : model}: ${list.join(', ')}`;
  });
}
