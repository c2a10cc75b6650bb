import { Link } from '@tanstack/react-router';
import type { PageAddress } from './copy-link';

interface OtherQuestionProps {
  /** `experiment`, `question`. */
  readonly what: string;
  /** What the result is of, in words. */
  readonly asked: string;
  /** The page with that in its form. */
  readonly address: PageAddress;
}

/** Above a result that does not belong to what the form says. */
export function OtherQuestion({ address, asked, what }: OtherQuestionProps) {
  return (
    <div className="other-question" role="status">
      <p>
        <strong>The result below is of another {what} than the form shows:</strong> {asked}
      </p>
      <Link {...address} resetScroll={false} className="button">
        Restore its {what}
      </Link>
    </div>
  );
}
