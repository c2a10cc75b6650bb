import { unknownEntry } from '../errors.js';
import type { Scheduler } from './contract.js';
import { fcfs } from './fcfs.js';
import { priorityFcfs } from './priority-fcfs.js';
import { reversePriority } from './reverse-priority.js';
import { sjf } from './sjf.js';

export const SCHEDULERS: readonly Scheduler[] = [fcfs, priorityFcfs, sjf, reversePriority];

export function scheduler(name: string): Scheduler {
  const found = SCHEDULERS.find((s) => s.name === name);
  if (found === undefined)
    throw unknownEntry('REPLICA_UNKNOWN_SCHEDULER', '--scheduler', 'scheduler', name, SCHEDULERS);
  return found;
}
