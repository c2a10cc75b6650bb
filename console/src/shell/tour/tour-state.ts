import { useSyncExternalStore } from 'react';

const KEY = 'twinyard.tour';
const listeners = new Set<() => void>();
let isOpen = false;

function set(open: boolean): void {
  isOpen = open;
  for (const listener of listeners) listener();
}

/** Opened by the visitor, also after it was closed. */
export const openTour = () => set(true);

/** Opened by a link that asks for it, unless this browser has closed it before. */
export function offerTour(): void {
  if (localStorage.getItem(KEY) !== 'closed') set(true);
}

export function closeTour(): void {
  localStorage.setItem(KEY, 'closed');
  set(false);
}

export function useTour(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    () => isOpen,
  );
}
