/** Calls back at a time of the gateway's clock. */
export interface Alarm {
  /** Fires once, not before this time; replaces the time set before. Infinity: never. */
  set(atUs: number): void;
}

export type NewAlarm = (wake: () => void) => Alarm;

/** The longest delay of a timer: a longer wait wakes earlier, and the alarm is set again. */
const MOST_MS = 2 ** 31 - 1;

/** Alarms by timers. None keeps the process alive. */
export function timerAlarms(nowUs: () => number): NewAlarm {
  return (wake) => {
    let timer: NodeJS.Timeout | undefined;
    return {
      set(atUs) {
        clearTimeout(timer);
        if (atUs === Number.POSITIVE_INFINITY) return;
        timer = setTimeout(wake, Math.min(MOST_MS, Math.max(0, Math.ceil((atUs - nowUs()) / 1000)))).unref();
      },
    };
  };
}
