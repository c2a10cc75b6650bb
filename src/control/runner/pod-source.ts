import type { PatchOperation } from '../../kernel/json/json-patch.js';

/** The template and the patches of an engine version, and the patches of an endpoint. */
export interface PodSource {
  /** Merged into the default pod. */
  readonly template: Readonly<Record<string, unknown>>;
  /** Values of its placeholders that the runner does not know; undefined for those without a value. */
  readonly values: Readonly<Record<string, string | undefined>>;
  /** Applied in this order. */
  readonly patches: readonly ManifestPatch[];
}

export interface ManifestPatch {
  readonly by: 'engine' | 'endpoint';
  /** For messages: `engine 'vllm' v0.10.2`. */
  readonly owner: string;
  readonly operations: readonly PatchOperation[];
}
