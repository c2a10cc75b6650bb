import { useSyncExternalStore } from 'react';
import { clockOf, type Zone } from './zone-time';

const KEY = 'twinyard.zone';
/** The zone of the browser, as in `Europe/Paris`. */
export const LOCAL_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone || 'local';
const listeners = new Set<() => void>();
let zone: Zone = localStorage.getItem(KEY) === 'local' ? 'local' : 'UTC';

/** The zone in which times are shown: UTC unless the visitor has chosen the browser's. */
export function useZone(): [Zone, () => void] {
  const now = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    () => zone,
  );
  return [
    now,
    () => {
      zone = zone === 'UTC' ? 'local' : 'UTC';
      localStorage.setItem(KEY, zone);
      for (const listener of listeners) listener();
    },
  ];
}

function parts(at: Date, shown: Zone): { day: string; clock: string } {
  const clock = clockOf(at, shown);
  return { day: clock.slice(0, 10), clock: clock.slice(11, 19) };
}

/** A time in the chosen zone; the day is left out where it is today. */
export function Time({ at, hasMs = false }: { readonly at: string; readonly hasMs?: boolean }) {
  const [shown] = useZone();
  const date = new Date(at);
  const { clock, day } = parts(date, shown);
  const today = parts(new Date(), shown).day;
  const ms = hasMs ? `.${String(date.getUTCMilliseconds()).padStart(3, '0')}` : '';
  return (
    <time dateTime={at} title={at}>
      {day === today ? '' : `${day} `}
      {clock}
      {ms}
    </time>
  );
}
