import { setTimeout as pause } from 'node:timers/promises';
import type { EndpointYard, ShownStatus } from './endpoint-yard.js';

const PACE_MS = 20;

/** A resource as the API shows it; of its status what endpoints have. */
export interface ShownResource {
  readonly metadata: { readonly name: string; readonly generation: number; readonly resource_version: number };
  readonly status?: ShownStatus & {
    readonly last_lines?: readonly string[];
    readonly download?: { readonly bytes: number; readonly total: number };
  };
}

/** The control API of a yard, whichever process serves it now. */
export class ControlApi {
  constructor(private readonly yard: EndpointYard) {}

  async ask(method: string, path: string, body?: string): Promise<{ readonly status: number; readonly text: string }> {
    const { adminUrl, token } = this.yard.serve;
    const init = { method, headers: { authorization: `Bearer ${token}` } };
    const response = await fetch(`${adminUrl}/api/v1/${path}`, body === undefined ? init : { ...init, body });
    return { status: response.status, text: await response.text() };
  }

  /** Applies resources to the workspace `default`. */
  async apply(...resources: readonly object[]): Promise<void> {
    const body = resources.map((one) => JSON.stringify({ apiVersion: 'twinyard/v1', ...one })).join('\n---\n');
    const { status, text } = await this.ask('POST', 'apply', body);
    if (status !== 200) throw new Error(text);
  }

  async endpoint(name: string): Promise<ShownResource> {
    return JSON.parse((await this.ask('GET', `workspaces/default/endpoints/${name}`)).text) as ShownResource;
  }

  /** Resolves with the status of an endpoint once it is reconciled. */
  async until(
    name: string,
    isSo: (status: NonNullable<ShownResource['status']>) => boolean,
  ): Promise<NonNullable<ShownResource['status']>> {
    for (;;) {
      const { metadata, status } = await this.endpoint(name);
      if (status?.observed_generation === metadata.generation && isSo(status)) return status;
      await pause(PACE_MS);
    }
  }

  /** The same by its phase. */
  untilPhase(name: string, phase: string): Promise<NonNullable<ShownResource['status']>> {
    return this.until(name, (status) => status.phase === phase);
  }
}

/** An engine that is a line of JavaScript; it gets its port and its model. */
export const lineEngine = (name: string, script: string) => ({
  kind: 'Engine',
  metadata: { name },
  spec: {
    versions: {
      v1: {
        tasks: ['text-generation'],
        metrics: 'vllm',
        command: [process.execPath, '-e', script, '{port}', '{model}'],
      },
    },
  },
});

export const endpointOf = (name: string, engine: string, spec: object) => ({
  kind: 'Endpoint',
  metadata: { name },
  spec: { engine: { name: engine }, model: { name: 'm' }, ...spec },
});
