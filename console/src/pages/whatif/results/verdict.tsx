import type { ReactNode } from 'react';
import { CopyLink, type PageAddress } from '../../../parts/copy-link';

interface VerdictProps {
  readonly text: string;
  readonly isRefused: boolean;
  /** Of the question with this result. */
  readonly address: PageAddress;
  /** What can be done with the result. */
  readonly children?: ReactNode;
}

/** The sentence that answers the question, with a link that shows the same to others. */
export function Verdict({ address, children, isRefused, text }: VerdictProps) {
  return (
    <>
      <p className={`verdict ${isRefused ? 'verdict-refused' : ''}`} role="status">
        {text}
      </p>
      <div className="verdict-actions">
        {children}
        <CopyLink address={address} />
      </div>
    </>
  );
}
