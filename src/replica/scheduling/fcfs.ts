import type { Scheduler } from './contract.js';

export const fcfs: Scheduler = {
  name: 'fcfs',
  summary: 'first come, first served; preempted requests go to the front',
  order: null,
};
