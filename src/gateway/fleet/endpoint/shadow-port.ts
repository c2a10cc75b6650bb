import type { ShadowChoice } from '../../../policy/bundle/shadow-choice.js';
import type { ShadowFigures } from '../../telemetry/shadow-figures.js';
import type { Endpoint } from './endpoint.js';

/**
 * The shadow policies of a gateway's endpoints, installed from outside: the gateway hands decisions over and knows nothing of
 * what is done with them.
 */
export interface ShadowPort {
  /** An endpoint is new, or its policy or the shadows in its configuration have changed. */
  changed(endpoint: Endpoint): void;
  removed(endpoint: Endpoint): void;
  /** Those of an endpoint and what they found, in the order of their names. */
  of(endpoint: Endpoint): readonly ShadowFigures[];
  /**
   * Adds a shadow to those of the configuration until the gateway stops, or replaces one that was added before. Throws an
   * InputError when its name is in the configuration or there are too many.
   */
  add(endpoint: Endpoint, choice: ShadowChoice): void;
  /** Removes a shadow that was added. Throws an InputError when there is none of this name, or the configuration has it. */
  remove(endpoint: Endpoint, name: string): void;
}
