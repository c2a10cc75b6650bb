import { DEFAULT_PREFIX_TOKENS } from '../limits.js';
import { cohortsOf, trafficOf } from '../walk.js';
import type { Rule } from './rule.js';

export const promptsHaveLengths: Rule = (spec, fail) => {
  for (const { path, traffic } of trafficOf(spec)) {
    if (traffic.input_distribution !== undefined || traffic.multimodal !== undefined) continue;
    throw fail(`${path}.input_distribution`, 'is missing', 'give type and params, or multimodal');
  }
};

const MEDIA = ['image', 'audio', 'video'] as const;

export const mediaHaveSizes: Rule = (spec, fail) => {
  for (const { path, traffic } of trafficOf(spec)) {
    if (traffic.multimodal === undefined) continue;
    const media = traffic.multimodal;
    for (const kind of MEDIA) {
      if (media[`${kind}_count_distribution`] === undefined || media[`${kind}_distribution`] !== undefined) continue;
      const problem = `the number of tokens of each ${kind} is missing`;
      throw fail(`${path}.multimodal.${kind}_count_distribution`, problem, `give ${kind}_distribution too`);
    }
    if (media.text_distribution !== undefined || MEDIA.some((kind) => media[`${kind}_distribution`] !== undefined))
      continue;
    throw fail(
      `${path}.multimodal`,
      'is empty',
      'give text_distribution, image_distribution or another, or leave it out',
    );
  }
};

export const prefixesHaveGroups: Rule = (spec, fail) => {
  for (const { path, traffic } of trafficOf(spec)) {
    if (traffic.prefix_length === undefined || traffic.prefix_group !== undefined) continue;
    throw fail(
      `${path}.prefix_length`,
      'the group that shares the prefix is missing',
      'add prefix_group, or leave it out',
    );
  }
  for (const { path, cohort } of cohortsOf(spec)) {
    if (cohort.prefix_sharing === undefined || cohort.prefix_group !== undefined) continue;
    throw fail(`${path}.prefix_sharing`, 'there is no prefix to share', 'add prefix_group, or leave it out');
  }
};

/** All prompts of a group start with the same tokens, so with equally many. */
export const groupsHaveOneLength: Rule = (spec, fail) => {
  const seen = new Map<string, { path: string; tokens: number }>();
  for (const { path, traffic } of trafficOf(spec)) {
    const group = traffic.prefix_group;
    if (group === undefined) continue;
    const tokens = traffic.prefix_length ?? DEFAULT_PREFIX_TOKENS;
    const first = seen.get(group) ?? { path, tokens };
    seen.set(group, first);
    if (first.tokens === tokens) continue;
    const problem = `the prefix of '${group}' has ${tokens} tokens here and ${first.tokens} at ${first.path}`;
    throw fail(`${path}.prefix_length`, problem, 'use one length per group, or two groups');
  }
};

/** A key that does nothing would make results look as if it did. */
export const noAdapters: Rule = (spec, fail) => {
  for (const { path, traffic } of trafficOf(spec)) {
    if (traffic.adapter === undefined) continue;
    throw fail(`${path}.adapter`, 'has no effect: adapters are not simulated', 'remove it');
  }
};

export const networksSaySomething: Rule = (spec, fail) => {
  for (const { path, traffic } of trafficOf(spec)) {
    if (traffic.network === undefined || Object.keys(traffic.network).length > 0) continue;
    throw fail(`${path}.network`, 'is empty', 'give rtt_ms or bandwidth_mbps, or leave it out');
  }
};
