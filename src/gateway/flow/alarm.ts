/** Wakes somebody at a time of the gateway's clock. */
export interface Alarm {
  /** Rings once, not before this time; replaces what was set before. Infinity: does not ring. */
  set(atUs: number): void;
}

export type NewAlarm = (wake: () => void) => Alarm;

/** Timers take at most so many milliseconds: who has longer to wait is woken in between, and sets the alarm again. */
const MOST_MS = 2 ** 31 - 1;

/** Alarms by the clock on the wall. None keeps the process alive. */
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
