import type { ModelProblem } from './errors.js';

/** Verifies a file. `git-sha1` is the id of a git blob, computed from its length and its bytes. */
export interface Checksum {
  readonly algorithm: 'sha256' | 'git-sha1';
  readonly hex: string;
}

export interface ModelFile {
  /** Relative to the model's folder, with `/`; checked, so that it never leads out of it. */
  readonly path: string;
  readonly size: number;
  readonly checksum: Checksum | null;
  /** Changes with the content, like an ETag or a modification time; null when the registry has none. */
  readonly tag: string | null;
}

/** A model of a registry at one revision: the same revision is the same files. */
export interface ResolvedModel {
  readonly name: string;
  /** The requested version, or the registry's default: `main`. */
  readonly version: string;
  /** What the version was resolved to: a commit, or a digest of the folder. */
  readonly revision: string;
  /** Ordered by path. */
  readonly files: readonly ModelFile[];
  /** The folder of the files, if they are on this machine already. */
  readonly folder: string | null;
}

export interface ModelListing {
  readonly name: string;
  /** Empty where the registry does not list them. */
  readonly versions: readonly string[];
}

export interface ListQuery {
  /** A part of the name, in any case. */
  readonly search?: string;
  /** From 1 to 1000. */
  readonly limit?: number;
}

export type Connection = { readonly connected: true } | { readonly connected: false; readonly problem: ModelProblem };

export interface OpenedFile {
  /** The offset of the first byte: the requested one, or 0 when the source cannot skip. */
  readonly begins: number;
  /** Up to the end of the file. Throws a `ModelError` when the source fails; leaving the loop closes the source. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/**
 * A source of models. Errors are an `InputError` or a `ModelError`, except for the reason of an aborted signal, and never contain a
 * token.
 */
export interface ModelRegistry {
  /** Used in errors and manifests, without credentials: `https://huggingface.co`, `file:///models`. */
  readonly address: string;
  /** Whether it can be used now, or why not. Does not retry. */
  connect(signal?: AbortSignal): Promise<Connection>;
  list(query: ListQuery, signal?: AbortSignal): Promise<ModelListing[]>;
  /** @param version the registry's default if absent */
  resolve(name: string, version?: string, signal?: AbortSignal): Promise<ResolvedModel>;
  /** Throws MODEL_FILE_CHANGED when the file is not the one that was resolved. Does not retry. */
  open(model: ResolvedModel, file: ModelFile, offset: number, signal?: AbortSignal): Promise<OpenedFile>;
  /** Closes its connections; it cannot be used afterwards. */
  close(): Promise<void>;
}

export interface RegistrySettings {
  /** The default of its kind if absent. */
  readonly url?: string;
  /** Sent to the registry's own host only. */
  readonly token?: string;
  /** Refuses addresses of this machine, its network segment and metadata services, also as targets of redirects. */
  readonly isGuarded?: boolean;
  /** Used in errors about the settings: `ModelRegistry 'hub'`. */
  readonly place?: string;
}

/** A kind of registry. */
export interface RegistryKind {
  readonly name: string;
  readonly summary: string;
  /** Null: a URL must be given. */
  readonly defaultUrl: string | null;
  readonly takesToken: boolean;
  /** Throws an `InputError` for invalid settings; does not connect yet. */
  open(settings: RegistrySettings, clock: Clock): ModelRegistry;
}

/** The clock of downloads; tests replace it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Throws the signal's reason when it is aborted meanwhile. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back once; returns the function that cancels it. */
  after(ms: number, callback: () => void): () => void;
}
