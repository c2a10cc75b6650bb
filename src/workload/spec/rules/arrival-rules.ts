import { arrivalProcess } from '../../arrivals/registry.js';
import { arrivalsOf } from '../walk.js';
import type { Rule } from './rule.js';

export const variationFitsProcess: Rule = (spec, fail) => {
  for (const { path, arrival } of arrivalsOf(spec)) {
    const { cv } = arrivalProcess(arrival.process);
    for (const key of ['cv', 'shape', 'scale'] as const) {
      if (cv !== null || arrival[key] === undefined) continue;
      const hint = 'leave it out, or take gamma or weibull';
      throw fail(`${path}.${key}`, `${arrival.process} arrivals have no ${key}`, hint);
    }
    if (cv === null || arrival.cv === undefined || (arrival.cv >= cv.min && arrival.cv <= cv.max)) continue;
    const problem = `${arrival.process} arrivals cannot vary by ${arrival.cv}`;
    throw fail(`${path}.cv`, problem, `give a number from ${cv.min} to ${cv.max}`);
  }
};

export const variationIsGivenOnce: Rule = (spec, fail) => {
  for (const { path, arrival } of arrivalsOf(spec)) {
    const { process, cv, shape, scale } = arrival;
    if (arrivalProcess(process).cv === null) continue;
    const hint = 'give cv, or shape and scale';
    if (cv === undefined && shape === undefined && scale === undefined) {
      throw fail(`${path}.cv`, `${process} arrivals need a variation`, hint);
    }
    if (cv !== undefined && (shape ?? scale) !== undefined) {
      throw fail(`${path}.${shape === undefined ? 'scale' : 'shape'}`, 'is given together with cv', hint);
    }
    if ((shape === undefined) === (scale === undefined)) continue;
    const [given, absent] = shape === undefined ? ['scale', 'shape'] : ['shape', 'scale'];
    throw fail(`${path}.${given}`, `is given without ${absent}`, hint);
  }
};
