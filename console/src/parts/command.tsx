import { useState } from 'react';

/** A command to copy. */
export function Command({ text }: { readonly text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      window.setTimeout(() => setCopied(false), 1500);
    } catch {
      // Without the right to write the clipboard the text can still be selected.
    }
  };
  return (
    <span className="command">
      <code>{text}</code>
      <button type="button" className="command-copy" onClick={copy} aria-label={`Copy: ${text}`}>
        {copied ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
}

/** The same page by the command line. */
export function AsCommand({ commands }: { readonly commands: readonly string[] }) {
  return (
    <details className="as-command">
      <summary>As a command</summary>
      {commands.map((text) => (
        <Command key={text} text={text} />
      ))}
    </details>
  );
}
