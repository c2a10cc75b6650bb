import { DEFAULT_WORKSPACE } from '../../control/resources/resource.js';
import type { PolicyConfig } from '../../gateway/config/gateway-config.js';
import { policyKeys } from '../../gateway/config/policy-keys.js';
import { policyHashOf } from '../../gateway/fleet/endpoint/deciding.js';
import type { Endpoint } from '../../gateway/fleet/endpoint/endpoint.js';
import type { Gateway } from '../../gateway/gateway.js';
import { otherPolicy, policyInForce } from '../errors.js';
import type { SwitchTarget } from './guarded-switch.js';

interface FileSwitchParts {
  readonly gateway: Pick<Gateway, 'config'>;
  readonly endpoint: Pick<Endpoint, 'name' | 'policy' | 'policyHash' | 'setPolicy' | 'rollback' | 'history'>;
  readonly policy: PolicyConfig;
  /** Called after each change of the policy. */
  readonly audit: (before: object, after: object) => Promise<void>;
}

/**
 * The policy of an endpoint of the configuration file. It is replaced in memory alone: a gateway that starts again has the policy of its
 * file, and so has one that reads the file again.
 */
export class FileSwitch implements SwitchTarget {
  readonly #parts: FileSwitchParts;
  /** The policy that is to be replaced: while it is measured first, another change may come. */
  readonly #former: string;
  /** When the policy was replaced, and what the file said then; null while there is nothing to restore. */
  #applied: { readonly sinceUs: number; readonly file: string } | null = null;

  constructor(parts: FileSwitchParts) {
    this.#parts = parts;
    this.#former = parts.endpoint.policyHash;
  }

  get endpoint(): string {
    return this.#parts.endpoint.name;
  }

  async apply(): Promise<void> {
    const { audit, endpoint, policy } = this.#parts;
    if (policyHashOf(policy) === endpoint.policyHash) throw policyInForce(endpoint.name);
    if (endpoint.policyHash !== this.#former)
      throw otherPolicy(DEFAULT_WORKSPACE, endpoint.name, this.#former, endpoint.policyHash);
    const before = policyKeys(endpoint.policy);
    endpoint.setPolicy(policy);
    this.#applied = { sinceUs: endpoint.history()[0]!.sinceUs, file: this.#file() };
    await audit(before, policyKeys(endpoint.policy));
  }

  async isOwn(): Promise<boolean> {
    const { endpoint, policy } = this.#parts;
    if (this.#applied === null) return false;
    const { file, sinceUs } = this.#applied;
    const isLast = endpoint.policyHash === policyHashOf(policy) && endpoint.history()[0]!.sinceUs === sinceUs;
    // A file that names the new policy by now changes nothing here, and is not to be overruled either.
    return isLast && this.#file() === file;
  }

  async keep(): Promise<void> {
    this.#applied = null;
  }

  async restore(): Promise<boolean> {
    const { audit, endpoint } = this.#parts;
    const isOwn = await this.isOwn();
    this.#applied = null;
    if (!isOwn) return false;
    const present = policyKeys(endpoint.policy);
    endpoint.rollback();
    await audit(present, policyKeys(endpoint.policy));
    return true;
  }

  /** What the configuration says about the policy. */
  #file(): string {
    const { endpoint, gateway } = this.#parts;
    return JSON.stringify(gateway.config.endpoints.find(({ name }) => name === endpoint.name)?.policy ?? null);
  }
}
