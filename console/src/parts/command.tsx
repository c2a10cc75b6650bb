import { apiCall } from './commands';
import { useCopy } from './copy';

/** A command to copy. */
export function Command({ text }: { readonly text: string }) {
  const [said, copy] = useCopy();
  return (
    <span className="command">
      <code>{text}</code>
      <button type="button" className="command-copy" onClick={() => void copy(text)} aria-label={`Copy: ${text}`}>
        {said ?? 'Copy'}
      </button>
    </span>
  );
}

/** The same page by the command line and by the API. @param calls paths after /api/v1/ */
export function AsCommand({
  calls = [],
  commands,
}: {
  readonly commands: readonly string[];
  readonly calls?: readonly string[];
}) {
  return (
    <details className="as-command">
      <summary>As a command</summary>
      {[...commands, ...calls.map((path) => apiCall(path))].map((text) => (
        <Command key={text} text={text} />
      ))}
    </details>
  );
}
