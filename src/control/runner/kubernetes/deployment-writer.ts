import type { ClusterCalls } from './cluster-calls.js';

export interface WriterParts {
  readonly calls: ClusterCalls;
  readonly onFault: (error: Error) => void;
  readonly name: string;
  /** The Deployment as it has to be now. */
  readonly manifest: () => object;
}

const MEND_EVERY_MS = 5000;

/** Writes a Deployment, one write after another, and again when others have edited it. */
export class DeploymentWriter {
  /** The last that is known; a later one is an edit of others. */
  generation: number;
  readonly #parts: WriterParts;
  #writing: Promise<boolean> = Promise.resolve(true);
  #writesLeft = 0;
  #mendTimer: NodeJS.Timeout | undefined;
  #mendedAt = 0;

  constructor(parts: WriterParts, generation: number) {
    this.#parts = parts;
    this.generation = generation;
  }

  /** Resolves when all is written; false: the last write has failed. */
  get written(): Promise<boolean> {
    return this.#writing;
  }

  get isWriting(): boolean {
    return this.#writesLeft > 0;
  }

  write(): Promise<boolean> {
    const { calls, manifest, name, onFault } = this.#parts;
    this.#writesLeft++;
    this.#writing = this.#writing.then(async () => {
      try {
        const { metadata } = await calls.applyDeployment(name, manifest());
        this.generation = Math.max(this.generation, metadata.generation ?? 0);
        return true;
      } catch (error) {
        onFault(error as Error);
        return false;
      } finally {
        this.#writesLeft--;
      }
    });
    return this.#writing;
  }

  /** Writes it at once, then at intervals: another controller may insist on its own version. */
  mend(): void {
    if (this.#mendTimer !== undefined) return;
    const waitMs = Math.max(0, this.#mendedAt + MEND_EVERY_MS - Date.now());
    this.#mendTimer = setTimeout(() => {
      this.#mendTimer = undefined;
      this.#mendedAt = Date.now();
      void this.write();
    }, waitMs);
  }

  async close(): Promise<void> {
    clearTimeout(this.#mendTimer);
    await this.#writing;
  }
}
