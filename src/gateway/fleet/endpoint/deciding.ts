import type { PolicyConfig } from '../../config/gateway-config.js';
import { DecidingFleet } from '../../decisions/deciding-fleet.js';
import type { DecisionWatch } from '../../decisions/decision-observer.js';
import { EndpointLog } from '../../decisions/endpoint-log.js';
import { timerAlarms } from '../../flow/alarm.js';
import { FlowControl } from '../../flow/flow-control.js';
import type { ReplicaProfiles } from '../../prediction/replica-profiles.js';
import { MeasuredPrompt } from '../../request/measured-prompt.js';
import type { LiveReplica } from '../replica/live-replica.js';
import { removal } from './eligibility.js';
import type { EndpointHost } from './endpoint-host.js';
import { FleetLook } from './fleet-look.js';
import { Placer } from './placer.js';
import { hasShares } from './request-shares.js';

/** What decides where requests go, and whether they wait. */
export interface Deciding {
  readonly fleet: DecidingFleet;
  readonly prompt: MeasuredPrompt;
  readonly look: FleetLook;
  readonly flow: FlowControl;
  readonly placer: Placer;
  /** Null where decisions are not logged. */
  readonly log: EndpointLog | null;
}

export function newDeciding(
  name: string,
  policy: PolicyConfig,
  host: EndpointHost,
  profiles: ReplicaProfiles,
  watch: DecisionWatch,
): Deciding {
  const { config, nowUs } = host;
  const log = host.log === null ? null : new EndpointLog(name, host.log);
  const fleet = new DecidingFleet(policy, config.seed, config.signals.staleMs, profiles);
  const prompt = new MeasuredPrompt();
  const look = new FleetLook(fleet, prompt, nowUs);
  const flow = new FlowControl(policy, look, fleet.host, host.newAlarm ?? timerAlarms(nowUs));
  const placer = new Placer({ endpoint: name, host, fleet, prompt, flow, log, watch });
  watch.log = log;
  log?.policy(fleet, config.seed, true);
  if (log !== null) for (const [id, profile] of profiles.all()) log.profile(id, profile);
  profiles.onChange = (id, profile) => {
    log?.profile(id, profile);
    fleet.profilesChanged();
  };
  return { fleet, prompt, look, flow, placer, log };
}

/** The configuration has been read: signals and first bytes may take a longer or shorter time. */
export function configureDeciding({ fleet, log }: Deciding, { signals, timeouts }: EndpointHost['config']): void {
  const { waits } = fleet.suspicion;
  waits.floorUs = timeouts.firstByteFloorMs * 1000;
  waits.ceilingUs = timeouts.firstByteMs * 1000;
  const { staleMs } = signals;
  if (staleMs === fleet.signals.staleMs) return;
  fleet.signals.staleMs = staleMs;
  log?.stale(staleMs);
}

/** Another policy takes over; no count is lost. */
export function takePolicy({ fleet, flow, log, placer }: Deciding, policy: PolicyConfig, seed: number): void {
  fleet.setPolicy(policy);
  placer.policyChanged();
  log?.policy(fleet, seed, false);
  flow.configure(policy);
}

export function shareReplicas({ look, placer }: Deciding, replicas: readonly LiveReplica[]): void {
  look.replicas = replicas;
  look.hasTiers = hasShares(replicas);
  placer.setReplicas(replicas, look.hasTiers);
}

/** Finds replicas that take requests and give nothing back. @param replicas by slot */
export function reviewTrust({ fleet }: Deciding, replicas: readonly LiveReplica[], nowUs: number): void {
  const { suspicion } = fleet;
  for (let slot = 0; slot < replicas.length; slot++) {
    const replica = replicas[slot]!;
    const isReady = removal(replica, null, nowUs / 1000) === null;
    suspicion.observe(slot, replica.heardUs, isReady ? replica.readySinceMs * 1000 : -1);
  }
  suspicion.review(nowUs);
}

/** The log line for a replica that is not trusted any more, or is again. */
export function trustLine(id: string, endpoint: string, isSuspect: boolean, reason: string): string {
  const effect = 'other replicas get its requests, and single requests probe it';
  return `replica ${id} of endpoint ${endpoint} ${isSuspect ? `is ${reason}: ${effect}` : reason}`;
}

/** By the policy's text, the one that was not asked for longest first: most endpoints share one. */
const hashes = new Map<string, string>();
const MOST_HASHES = 256;

/** Throws an InputError when the policy is invalid. */
export function policyHashOf(policy: PolicyConfig): string {
  const text = JSON.stringify(policy);
  const known = hashes.get(text);
  const hash = known ?? new DecidingFleet(policy, 0, 0).policyHash;
  hashes.delete(text);
  hashes.set(text, hash);
  const [oldest] = hashes.keys();
  if (hashes.size > MOST_HASHES) hashes.delete(oldest!);
  return hash;
}
