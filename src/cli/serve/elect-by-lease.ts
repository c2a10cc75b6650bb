import type { Elect } from '../../control/election.js';
import { findAccess } from '../../kube/access/find-access.js';
import { LeaseElection } from '../../kube/election/lease-election.js';
import type { LeaseTarget } from '../../kube/election/lease-name.js';
import { KubeClient } from '../../kube/kube-client.js';

/** An election by a Lease of a Kubernetes cluster. Throws an InputError without access to it. */
export function electByLease(target: LeaseTarget, onProblem: (line: string) => void): Elect {
  const access = findAccess(target);
  const lease = { name: target.name, namespace: target.namespace ?? access.namespace };
  return async (candidate) => {
    const client = new KubeClient(access);
    const election = await LeaseElection.open({
      ...{ client, lease, onProblem, identity: candidate.identity },
      mayLead: () => candidate.mayLead(),
      isAble: () => candidate.isAble(),
      changed: (isHeld) => candidate.changed(isHeld),
    });
    return {
      name: election.name,
      get isHeld() {
        return election.isHeld;
      },
      async release() {
        await election.release();
        await client.close();
      },
    };
  };
}
