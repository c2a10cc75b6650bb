import type { ModelProblem } from './errors.js';

/** Proves that bytes are the right ones. `git-sha1` is what git calls a blob's name: of its length and its bytes. */
export interface Checksum {
  readonly algorithm: 'sha256' | 'git-sha1';
  readonly hex: string;
}

export interface ModelFile {
  /** Below the model's folder, parted by `/`; checked, so that it never leads out of it. */
  readonly path: string;
  readonly size: number;
  readonly checksum: Checksum | null;
  /** Differs when the bytes do, as an ETag or a time of change; null when the registry has nothing of the kind. */
  readonly tag: string | null;
}

/** A model of a registry, pinned: the same revision is the same files. */
export interface ResolvedModel {
  readonly name: string;
  /** As it was asked for, or what the registry takes when nobody asks: `main`. */
  readonly version: string;
  /** What the version stood for when it was resolved: a commit, or a digest of the folder. */
  readonly revision: string;
  /** In order of their paths. */
  readonly files: readonly ModelFile[];
  /** Where the files are, if they are on this machine already. */
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
  /** How many at most, from 1 to 1000. */
  readonly limit?: number;
}

export type Connection = { readonly connected: true } | { readonly connected: false; readonly problem: ModelProblem };

export interface OpenedFile {
  /** Where the bytes begin: at the offset that was asked for, or at 0 when the source cannot skip. */
  readonly begins: number;
  /** Until the end of the file. Throws a `ModelError` when the source breaks off; leaving the loop closes the source. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/**
 * A place that models come from. Whatever goes wrong is an `InputError` or a `ModelError`, apart from the reason of an aborted
 * signal, and never holds a token.
 */
export interface ModelRegistry {
  /** As errors and manifests call it, without credentials: `https://huggingface.co`, `file:///models`. */
  readonly address: string;
  /** Whether it can be used now, or why not. Asks once. */
  connect(signal?: AbortSignal): Promise<Connection>;
  list(query: ListQuery, signal?: AbortSignal): Promise<ModelListing[]>;
  /** @param version of the model; without it the registry's own choice */
  resolve(name: string, version?: string, signal?: AbortSignal): Promise<ResolvedModel>;
  /** Throws MODEL_FILE_CHANGED when the file is not the one that was resolved. Asks once. */
  open(model: ResolvedModel, file: ModelFile, offset: number, signal?: AbortSignal): Promise<OpenedFile>;
  /** Ends its connections; nothing else may be asked of it. */
  close(): Promise<void>;
}

export interface RegistrySettings {
  /** Of the registry; without it the usual one of its kind. */
  readonly url?: string;
  /** Sent to the registry's own host and to nobody else. */
  readonly token?: string;
  /** What errors about the settings call them: `ModelRegistry 'hub'`. */
  readonly place?: string;
}

/** How to reach one kind of registry. */
export interface RegistryKind {
  readonly name: string;
  readonly summary: string;
  /** null when there is none and one must be given. */
  readonly usualUrl: string | null;
  readonly takesToken: boolean;
  /** Throws an `InputError` for settings that cannot be right; connects to nothing yet. */
  open(settings: RegistrySettings, clock: Clock): ModelRegistry;
}

/** Time, so that tests need none. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Throws the signal's reason when it is aborted meanwhile. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back once; returns how to forget it. */
  after(ms: number, callback: () => void): () => void;
}
