import type { ArrivalProcess } from './arrival-process.js';
import { constantArrivals } from './constant.js';
import { gammaArrivals } from './gamma.js';
import { poissonArrivals } from './poisson.js';
import { weibullArrivals } from './weibull.js';

/** Every arrival process: a new one is a file and a line here. */
export const ARRIVAL_PROCESSES: readonly ArrivalProcess[] = [
  constantArrivals,
  poissonArrivals,
  gammaArrivals,
  weibullArrivals,
];

export function arrivalProcess(name: string): ArrivalProcess {
  return ARRIVAL_PROCESSES.find((process) => process.name === name)!;
}
