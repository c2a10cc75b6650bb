import { join } from 'node:path';
import type { ControlHost } from '../control/control-plane.js';
import type { EndpointAdvice, EndpointSwitch } from '../control/resources/kinds/endpoint.js';
import { ControlStore } from '../control/store/control-store.js';
import type { Gateway } from '../gateway/gateway.js';
import type { Store } from '../store/open-store.js';
import type { LabRunner } from '../twin/lab/lab-task.js';
import type { LabUploads } from '../twin/lab/lab-uploads.js';
import { noControlPlane, noGateway, noLab, noStore } from './errors.js';
import { AdviceBook } from './jobs/advice-book.js';
import type { JobBoard } from './jobs/job-board.js';
import { SwitchBook } from './jobs/switch-book.js';
import { OpenStreams } from './open-streams.js';
import type { Sessions } from './session/sessions.js';

/** What the API needs of a gateway. */
export type ServedGateway = Pick<
  Gateway,
  | 'access'
  | 'adminUrl'
  | 'config'
  | 'endpoints'
  | 'epochUs'
  | 'fleet'
  | 'foldUsage'
  | 'former'
  | 'isDraining'
  | 'nowMs'
  | 'refusals'
  | 'reloadConfig'
  | 'replicas'
  | 'ring'
  | 'traffic'
  | 'url'
>;

/** What experiments need. */
export interface Lab {
  readonly uploads: LabUploads;
  readonly run: LabRunner;
}

export interface HostParts {
  /** Null where only the gateway's own routes can be served. */
  readonly store: Store | null;
  /** Null where commands work on a store offline. */
  readonly gateway: ServedGateway | null;
  /** Resolves with the control plane of this process once it is open; rejects when it does not open. Null where there is none. */
  readonly control: Promise<{ readonly host: ControlHost }> | null;
  /** Sessions of browsers; absent where commands work on a store offline. */
  readonly sessions?: Sessions;
  /** Long work; absent where commands work on a store offline. */
  readonly jobs?: JobBoard;
  /** Experiments; absent where nothing runs them. */
  readonly lab?: Lab;
  /** SLO classes that are known to be defined besides those of the gateway and of the store. */
  readonly classes?: readonly string[];
}

/** What is behind the API: a gateway, a store and a control plane, as far as this process has them. */
export class ApiHost {
  readonly #parts: HostParts;
  #hasControl: boolean;

  constructor(parts: HostParts) {
    this.#parts = parts;
    this.#hasControl = parts.control !== null;
    parts.control?.catch(() => {
      this.#hasControl = false;
    });
  }

  /** Throws `API_NO_STORE` without one. */
  get store(): Store {
    if (this.#parts.store === null) throw noStore();
    return this.#parts.store;
  }

  get classes(): readonly string[] {
    return this.#parts.classes ?? [];
  }

  /** Throws `API_NO_GATEWAY` without a server. */
  get sessions(): Sessions {
    if (this.#parts.sessions === undefined) throw noGateway();
    return this.#parts.sessions;
  }

  /** Throws `API_NO_GATEWAY` without a server. */
  get jobs(): JobBoard {
    if (this.#parts.jobs === undefined) throw noGateway();
    return this.#parts.jobs;
  }

  /** Throws `API_NO_LAB` where nothing runs experiments. */
  get lab(): Lab {
    if (this.#parts.lab === undefined) throw noLab();
    return this.#parts.lab;
  }

  readonly streams = new OpenStreams();

  /** The latest advice about the policies of endpoints. */
  readonly advice = new AdviceBook();
  #switches: SwitchBook | null = null;

  /** The latest guarded switches of policies. They survive the process where a store does. */
  get switches(): SwitchBook {
    const { gateway, store } = this.#parts;
    this.#switches ??= new SwitchBook(
      gateway === null || store === null ? null : join(gateway.config.dataDir, 'switches.json'),
    );
    return this.#switches;
  }

  /** What is known of the policy of an endpoint besides itself. */
  notesOn(called: { workspace: string; name: string }): { advice?: EndpointAdvice; switch?: EndpointSwitch } {
    const [advice, last] = [this.advice.of(called), this.switches.of(called)];
    return { ...(advice === undefined ? {} : { advice }), ...(last === undefined ? {} : { switch: last }) };
  }

  get hasStore(): boolean {
    return this.#parts.store !== null;
  }

  /** Whether this process has a control plane, or opens one. */
  get hasControl(): boolean {
    return this.#hasControl;
  }

  /** Throws `API_NO_GATEWAY` without one. */
  get gateway(): ServedGateway {
    if (this.#parts.gateway === null) throw noGateway();
    return this.#parts.gateway;
  }

  /** The same where its absence is no error. */
  get servedGateway(): ServedGateway | null {
    return this.#parts.gateway;
  }

  /**
   * The control plane of this process, waiting while it opens. Throws `CONTROL_NOT_OPEN` where there is none or another one has
   * taken over: changes that it would have to carry out are then refused.
   */
  async control(): Promise<ControlHost> {
    const { control } = this.#parts;
    if (control === null) throw noControlPlane(this.hasStore ? 'this process runs none' : 'the gateway has no store');
    try {
      return (await control).host;
    } catch (error) {
      throw noControlPlane((error as Error).message);
    }
  }

  /** The resources of the store, to be read: also where the control plane is another process's. */
  async resources(): Promise<ControlStore> {
    const { control } = this.#parts;
    const host = await control?.then((one) => one.host).catch(() => null);
    return host?.store ?? new ControlStore(this.store);
  }
}
