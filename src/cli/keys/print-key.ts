import type { KeyRecord } from '../../store/keys/key-record.js';
import { type KeyView, keyView } from '../../store/keys/key-view.js';
import type { CliIo } from '../io.js';

/** Prints a key as a page for people or as a document. */
export async function printKey(key: KeyRecord, now: number, format: string, io: CliIo): Promise<void> {
  const view = keyView(key, now);
  if (format === 'json') {
    io.stdout.write(`${JSON.stringify(view, null, 2)}\n`);
    return;
  }
  const { textTable } = await import('../../report/text/text-table.js');
  io.stdout.write(`${textTable(rowsOf(view), ['left', 'left']).join('\n')}\n`);
}

/** Prints the text of a key, alone on its line, and on stderr what to know about it; or a document with both. */
export function printIssued(key: KeyRecord, text: string, now: number, format: string, note: string, io: CliIo): void {
  if (format === 'json') {
    io.stdout.write(`${JSON.stringify({ ...keyView(key, now), key: text }, null, 2)}\n`);
    return;
  }
  io.stderr.write(`twinyard: ${note}\n`);
  io.stdout.write(`${text}\n`);
}

function rowsOf(view: KeyView): string[][] {
  const limits = limitLines(view.limits);
  return [
    ['id', view.id],
    ['name', view.name],
    ['state', view.state],
    ['text', `ty_${view.id}_...${view.hint}`],
    ['tenant', view.tenant],
    ['models', modelsText(view)],
    ['max SLO class', view.max_slo_class ?? 'any'],
    ['role', view.role],
    ...(limits.length === 0 ? ['none'] : limits).map((line, i) => [i === 0 ? 'limits' : '', line]),
    ['created', timeText(view.created_at)],
    ['expires', view.expires_at === null ? 'never' : timeText(view.expires_at)],
    ...(view.revoked_at === null ? [] : [['revoked', timeText(view.revoked_at)]]),
    ...(view.previous_until === null ? [] : [['old text until', timeText(view.previous_until)]]),
  ];
}

export function modelsText({ models }: KeyView): string {
  return models === null ? 'all' : models.join(', ');
}

/** `2026-01-31T18:00:00.000Z` as `2026-01-31 18:00 UTC`. */
export function timeText(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}

/** A line for each model: `all models: requests per minute 60, tokens per day 100000`. */
function limitLines(limits: KeyView['limits']): string[] {
  return Object.entries(limits).map(([model, of]) => {
    const list = Object.entries(of).map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`);
    return `${model === '*' ? 'all models' : model}: ${list.join(', ')}`;
  });
}
