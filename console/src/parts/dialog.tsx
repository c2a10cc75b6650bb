import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';

interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Closed by its buttons only, as what it shows is shown once. */
  readonly isClosedByButton?: boolean;
  readonly children: ReactNode;
}

/** A question before a change: what happens, and the way back. */
export function Dialog({ children, isClosedByButton = false, isOpen, onClose, title }: DialogProps) {
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => (open || isClosedByButton ? undefined : onClose())}>
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Popup className="dialog">
          <Base.Title>{title}</Base.Title>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
