import { readdirSync, readFileSync } from 'node:fs';

/** Ticks of `/proc` per second, on every Linux that Node.js supports. */
const TICKS_PER_SECOND = 100;

/** The processor time of a process and all its descendants since their start, user and system, in milliseconds. */
export function processorMs(pid: number): number {
  const parents = new Map<number, number>();
  const ticks = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statOf(name);
    if (fields === null) continue;
    parents.set(Number(name), Number(fields[1]));
    ticks.set(Number(name), Number(fields[11]) + Number(fields[12]));
  }
  const isOwn = (one: number | undefined): boolean => one === pid || (one !== undefined && isOwn(parents.get(one)));
  let sum = 0;
  for (const [one, used] of ticks) if (isOwn(one)) sum += used;
  return (sum * 1000) / TICKS_PER_SECOND;
}

/** The fields after the name of the command, which may contain anything; null when the process has ended. */
function statOf(pid: string): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(') ') + 2).split(' ');
  } catch {
    return null;
  }
}
