import { useState } from 'react';

/** Copies text, and says for a moment that it was copied. */
export function useCopy(): [boolean, (text: string) => Promise<void>] {
  const [copied, setCopied] = useState(false);
  return [
    copied,
    async (text) => {
      try {
        await navigator.clipboard.writeText(text);
        setCopied(true);
        window.setTimeout(() => setCopied(false), 1500);
      } catch {
        // Without the right to write the clipboard the text can still be selected.
      }
    },
  ];
}

/** A table as text with tabs, as spreadsheets take it. */
export function tableText(table: HTMLTableElement): string {
  return [...table.rows]
    .map((row) => [...row.cells].map(({ textContent }) => (textContent ?? '').replace(/\s+/g, ' ').trim()).join('\t'))
    .join('\n');
}
