import { tokenBucket } from '../../policy/admission/token-bucket.js';
import { factsOf, type Schema } from '../../schema/facts.js';
import type { Flag } from './flag.js';
import { choiceFlag, count, fieldFlag, file, listFlag, microseconds, registered, stringFlag } from './kinds.js';
import { FLEET_GRAMMAR, type FleetKind, readFactors, readFleet } from './read-list.js';
import { admissionPolicyNames, routingPolicyNames, scorerNames } from './registered-names.js';

const optionFlag = (option: unknown) =>
  fieldFlag(option as Schema, { help: `${factsOf(option as Schema).help} (token-bucket)` }) as Flag<number>;

/** The fleet, admission and routing. */
export const clusterFlags = {
  'num-instances': count({ default: 1, min: 1, max: 100_000, help: 'replicas of the model' }),
  fleet: listFlag<FleetKind[] | null>({
    default: null,
    accepted: FLEET_GRAMMAR,
    read: readFleet,
    help: 'replicas of several kinds instead of --num-instances: GPUs or latency profiles, 2*H100,4*L4:2,slow.json',
  }),
  'slow-factors': listFlag<number[] | null>({
    default: null,
    accepted: 'a number above 0 for each replica, with commas between them',
    read: (given, place) => readFactors(given, place),
    help: 'replicas of unequal speed: how many times as long the steps of each take, 1,1,2,...',
  }),
  gateways: count({
    default: 1,
    min: 1,
    max: 1000,
    help: 'gateways that route side by side, each knowing its own requests only',
  }),
  'routing-policy': registered({
    default: 'round-robin',
    names: routingPolicyNames,
    help: 'how a replica is chosen',
  }),
  'routing-scorers': stringFlag({
    default: null,
    placeholder: 'list',
    defaultText: 'prefix-affinity:3,queue-depth:2,kv-utilization:2',
    suggestions: scorerNames,
    help: 'scorers of the weighted policy, name:weight,...',
  }),
  'tie-break': choiceFlag({ default: 'first', known: ['first', 'random'], help: 'which of equal replicas is chosen' }),
  'snapshot-refresh-interval': microseconds({ default: 0, help: 'age of the signals that replicas report; 0: live' }),
  'cache-signal-delay': microseconds({ default: 0, help: "age of the router's copy of replica caches; 0: live" }),
  'admission-policy': registered({
    default: 'always-admit',
    names: admissionPolicyNames,
    help: 'which requests are admitted',
  }),
  'token-bucket-capacity': optionFlag(tokenBucket.options.capacity),
  'token-bucket-refill-rate': optionFlag(tokenBucket.options.refill_rate),
  'admission-latency': microseconds({ default: 0, help: 'time between arrival and admission' }),
  'routing-latency': microseconds({ default: 0, help: 'time between admission and routing' }),
  'policy-config': file({ help: 'YAML file of policies; flags win over it' }),
};

export type ClusterFlags = typeof clusterFlags;
