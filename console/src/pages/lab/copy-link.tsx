import { useState } from 'react';
import { Button } from '../../parts/basics';

/** Copies the address of the page, which has the whole experiment. */
export function CopyLink() {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      setCopied(true);
      window.setTimeout(() => setCopied(false), 1500);
    } catch {
      // Without the right to write the clipboard the address can still be copied.
    }
  };
  return <Button onClick={copy}>{copied ? 'Copied' : 'Copy link'}</Button>;
}
