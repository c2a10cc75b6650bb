import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packagePath } from '../../files/package-path.js';
import { canonicalJson } from '../../kernel/text/canonical-json.js';
import { replicaFiles } from '../../replica/replica-files.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import type { RunInputs } from '../experiment.js';

/** The folder of this module: two levels below `src` or the compiled `dist`, or that of the bundle, which has no folders. */
const HERE = dirname(fileURLToPath(import.meta.url));
/** The parts of the program that a run's result depends on. */
const PARTS = ['kernel', 'policy', 'workload', 'replica', 'simulator', 'experiment'];

/**
 * The keys of results in the cache: each is the SHA-256 of all that a run depends on. That is the program, the
 * configuration with the content of its model and GPU files, and the recipe of the workload, with the content of a
 * trace in place of its path.
 */
export function runKeys(runs: readonly RunInputs[], program: string): string[] {
  // The runs of a variant share their replica: its files are read once.
  const described = new Map<ReplicaModelConfig, unknown>();
  return runs.map(({ config, workload, course, steady }) => {
    const { modelConfigFolder, hardwareConfig, ...replica } = config.replica;
    // A profile is part of the configuration, and replaces both files.
    const profiled = config.replica.latencyProfile !== undefined;
    const files = described.get(config.replica) ?? (profiled ? 'profile' : replicaFiles(config.replica));
    described.set(config.replica, files);
    const others = (config.fleet ?? []).map(({ replica: one }) => {
      const known = described.get(one) ?? (one.latencyProfile === undefined ? replicaFiles(one) : 'profile');
      described.set(one, known);
      return known;
    });
    const recipe = workload.kind === 'trace' ? { ...workload, header: workload.header !== null, data: null } : workload;
    const measured = { ...(steady === undefined ? {} : { steady }), ...(course === undefined ? {} : { course }) };
    const inputs = { program, config: { ...config, replica }, files, workload: recipe, ...measured };
    const all = others.length === 0 ? inputs : { ...inputs, others };
    return sha256(canonicalJson(all));
  });
}

/** The program as far as results depend on it. A version number alone would keep old results after a change to the code. */
export function programFingerprint(): Promise<string> {
  fingerprint ??= readFingerprint();
  return fingerprint;
}

/** Read once: the program that runs is the one that was loaded. */
let fingerprint: Promise<string> | undefined;

async function readFingerprint(): Promise<string> {
  const modules = join(HERE, '..', '..');
  const isBundle = !existsSync(join(modules, 'experiment', 'runs'));
  const root = isBundle ? HERE : modules;
  const files: string[] = [];
  for (const part of isBundle ? [''] : PARTS) {
    for (const name of await readdir(join(root, part), { recursive: true })) {
      if (/\.[jt]s$/.test(name) && !/\.(test|contract|fixture)\.ts$/.test(name)) files.push(join(part, name));
    }
  }
  const hash = createHash('sha256').update(await readFile(packagePath('package.json')));
  const contents = await Promise.all(files.sort().map((file) => readFile(join(root, file))));
  for (const [i, content] of contents.entries()) hash.update(`\n${files[i]}\n`).update(content);
  return hash.digest('hex');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
