import { useState } from 'react';

const SAID_MS = 1500;

/** Copies text. The first says for a moment how that went; null at other times. */
export function useCopy(): [said: 'Copied' | 'Select and copy' | null, copy: (text: string) => Promise<void>] {
  const [said, setSaid] = useState<'Copied' | 'Select and copy' | null>(null);
  return [
    said,
    async (text) => {
      setSaid((await isWritten(text)) || isCopiedBySelection(text) ? 'Copied' : 'Select and copy');
      window.setTimeout(() => setSaid(null), SAID_MS);
    },
  ];
}

/** Browsers offer the clipboard on HTTPS and on this machine only, and to pages with the right to it. */
async function isWritten(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** The way of plain HTTP. */
function isCopiedBySelection(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.style.cssText = 'position: fixed; opacity: 0';
  // A dialog keeps the focus inside.
  (focused?.closest('[role=dialog]') ?? document.body).append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    area.remove();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }
}

/** A table as text with tabs, as spreadsheets take it: with all digits of its numbers. */
export function tableText(table: HTMLTableElement): string {
  return textOfRows([...table.rows].map((row) => [...row.cells].map(cellText)));
}

export const textOfRows = (rows: readonly (readonly string[])[]) => rows.map((cells) => cells.join('\t')).join('\n');

/** A cell that shows a rounded number has all of its digits in `data-exact`, or something in the cell has. */
function cellText(cell: HTMLTableCellElement): string {
  const exact = cell.dataset.exact ?? cell.querySelector<HTMLElement>('[data-exact]')?.dataset.exact;
  return exact ?? (cell.textContent ?? '').replace(/\s+/g, ' ').trim();
}
