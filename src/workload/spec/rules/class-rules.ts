import { trafficOf } from '../walk.js';
import type { Rule } from './rule.js';

/** Names of classes in specifications of version 1. */
export const OLD_CLASSES: Readonly<Record<string, string>> = { realtime: 'critical', interactive: 'standard' };

/** A request without a class among others with one would silently count as standard. */
export const allHaveClassesOrNone: Rule = (spec, fail) => {
  const all = [...trafficOf(spec)];
  const named = all.find(({ traffic }) => traffic.slo_class !== undefined);
  const unnamed = all.find(({ traffic }) => traffic.slo_class === undefined);
  if (named === undefined || unnamed === undefined) return;
  const problem = `is missing, but ${named.path} has the class '${named.traffic.slo_class}'`;
  throw fail(`${unnamed.path}.slo_class`, problem, 'give all clients and cohorts a class, or none');
};

export const noOldClasses: Rule = (spec, fail) => {
  for (const { path, traffic } of trafficOf(spec)) {
    const old = traffic.slo_class ?? '';
    if (!Object.hasOwn(OLD_CLASSES, old)) continue;
    const hint = `write '${OLD_CLASSES[old]}', or version: "1"`;
    throw fail(`${path}.slo_class`, `'${old}' is a class of version 1`, hint);
  }
};

export const targetsSayOf: Rule = ({ goodput_slo_targets = {} }, fail) => {
  for (const [sloClass, target] of Object.entries(goodput_slo_targets)) {
    if (Object.keys(target).length > 0) continue;
    throw fail(`goodput_slo_targets.${sloClass}`, 'has no target', 'give ttft_ms, itl_ms or e2e_ms');
  }
};
