import type { ArrivalProcess } from './arrival-process.js';
import { constant } from './constant.js';
import { gamma } from './gamma.js';
import { poisson } from './poisson.js';
import { weibull } from './weibull.js';

/** Every law of arrivals: a new one is a file and a line here. */
export const ARRIVAL_PROCESSES: readonly ArrivalProcess[] = [constant, poisson, gamma, weibull];

export function arrivalProcess(name: string): ArrivalProcess {
  return ARRIVAL_PROCESSES.find((process) => process.name === name)!;
}
