import { variationFitsProcess, variationIsGivenOnce } from './arrival-rules.js';
import { allHaveClassesOrNone, noOldClasses, targetsSayOf } from './class-rules.js';
import { parametersFit } from './length-rules.js';
import {
  absoluteRatesAreComplete,
  idsAreUnique,
  inferencePerfStandsAlone,
  noServegenFolder,
  notTooManyClients,
  onePatternPerCohort,
  someoneSends,
  thinkTimeNeedsUsers,
  usersHaveNoRate,
  windowsAreInOrder,
} from './rate-rules.js';
import {
  groupsHaveOneLength,
  mediaHaveSizes,
  networksSaySomething,
  noAdapters,
  prefixesHaveGroups,
  promptsHaveLengths,
} from './request-rules.js';
import type { Rule } from './rule.js';
import { closedLoopsNeedSessions, pausesAreGivenOnce, setBeginningsStandAlone } from './session-rules.js';

/** What must hold between keys, in the order in which it is checked. */
export const RULES: readonly Rule[] = [
  noServegenFolder,
  someoneSends,
  inferencePerfStandsAlone,
  notTooManyClients,
  idsAreUnique,
  usersHaveNoRate,
  thinkTimeNeedsUsers,
  windowsAreInOrder,
  onePatternPerCohort,
  setBeginningsStandAlone,
  absoluteRatesAreComplete,
  variationFitsProcess,
  variationIsGivenOnce,
  promptsHaveLengths,
  parametersFit,
  mediaHaveSizes,
  prefixesHaveGroups,
  groupsHaveOneLength,
  noAdapters,
  pausesAreGivenOnce,
  closedLoopsNeedSessions,
  networksSaySomething,
  noOldClasses,
  allHaveClassesOrNone,
  targetsSayOf,
];
