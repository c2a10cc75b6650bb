import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { makeFolder } from '../../files/make-folder.js';
import { replaceFile } from '../../files/replace-file.js';
import type { UsualErrors } from '../../gateway/prediction/drift-watch.js';
import { type EngineFacts, UNKNOWN_FACTS } from '../../gateway/prediction/engine-facts.js';
import type { ProfileErrors } from '../../gateway/prediction/profile-book.js';
import type { LatencyProfile } from '../../replica/latency/profile.js';
import { parseProfile, profileText } from '../../replica/latency/profile-file.js';

/** A profile as it survives a restart. */
export interface KeptProfile {
  readonly endpoint: string;
  readonly engine: string;
  /** Of the endpoint; null for one of the configuration file. */
  readonly uid: string | null;
  readonly profile: LatencyProfile;
  readonly source: 'fitted' | 'given';
  readonly isPinned: boolean;
  /** Milliseconds since 1970. */
  readonly madeMs: number;
  readonly score: ProfileErrors | null;
  /** The usual errors of its predictions; null until they are known. */
  readonly usual: UsualErrors | null;
  /** The engine that it was fitted to. */
  readonly facts: EngineFacts;
  readonly assumes: readonly string[];
}

const errors = { ttft: v.number(), itl: v.number(), e2e: v.number() };
const KEPT = v.object({
  version: v.literal(1),
  endpoint: v.string(),
  engine: v.string(),
  uid: v.nullable(v.string()),
  source: v.picklist(['fitted', 'given']),
  pinned: v.boolean(),
  made_ms: v.number(),
  score: v.nullable(v.object({ ...errors, requests: v.number() })),
  usual: v.nullable(v.object(errors)),
  facts: v.object({
    version: v.nullable(v.string()),
    model: v.nullable(v.string()),
    maxModelLen: v.nullable(v.number()),
    kvBlocks: v.nullable(v.number()),
    blockSize: v.nullable(v.number()),
    hardware: v.nullable(v.string()),
    tp: v.nullable(v.number()),
  }),
  assumes: v.array(v.string()),
  profile: v.looseObject({}),
});

/** Profiles in a folder, a file for each endpoint and engine. A file is replaced as a whole. */
export class ProfileFolder {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Files that cannot be read are reported and left alone. */
  read(warn: (line: string) => void): KeptProfile[] {
    let names: string[];
    try {
      names = readdirSync(this.#path).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
    } catch {
      // There is none yet.
      return [];
    }
    return names.sort().flatMap((name) => {
      const path = join(this.#path, name);
      try {
        return [keptProfile(readFileSync(path, 'utf8'), path)];
      } catch (error) {
        warn(`${path}: not a readable profile, ignored: ${(error as Error).message}`);
        return [];
      }
    });
  }

  write(kept: KeptProfile): void {
    makeFolder(this.#path);
    const { isPinned, madeMs, profile, ...rest } = kept;
    const document = {
      ...{ version: 1, ...rest, pinned: isPinned, made_ms: madeMs },
      profile: JSON.parse(profileText(profile)) as object,
    };
    replaceFile(join(this.#path, fileName(kept)), `${JSON.stringify(document, null, 2)}\n`);
  }

  /** Of an endpoint that is gone. */
  delete(called: Pick<KeptProfile, 'endpoint' | 'engine'>): void {
    rmSync(join(this.#path, fileName(called)), { force: true });
  }
}

function keptProfile(text: string, path: string): KeptProfile {
  const { made_ms, pinned, profile, version: _, ...rest } = v.parse(KEPT, JSON.parse(text));
  return {
    ...rest,
    facts: { ...UNKNOWN_FACTS, ...rest.facts },
    isPinned: pinned,
    madeMs: made_ms,
    profile: parseProfile(JSON.stringify(profile), path),
  };
}

function fileName({ endpoint, engine }: Pick<KeptProfile, 'endpoint' | 'engine'>): string {
  return `${encodeURIComponent(endpoint)}@${encodeURIComponent(engine)}.json`;
}
