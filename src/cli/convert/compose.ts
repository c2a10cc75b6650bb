import { summaryOf } from '../commands.js';
import { createDiagnostics } from '../diagnostics.js';
import { missingFlag } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import type { Flag } from '../flags/flag.js';
import { file } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';

const from: Flag<readonly string[]> = {
  ...file({ help: 'a workload specification; repeat it for each' }),
  default: [],
  repeats: true,
  read: (text) => text.split('\n'),
};

export const COMPOSE: CommandLine = {
  name: 'compose',
  summary: summaryOf('compose'),
  about: 'Use it to simulate the traffic of several applications together.',
  groups: [{ title: 'Specifications', flags: { from } }],
  examples: ['compose --from examples/workloads/tenants.yaml --from examples/workloads/night.yaml'],
};

/** Prints one specification with the clients of several; reports on stderr what cannot be kept. */
export async function compose(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<{ from: typeof from }>(COMPOSE, argv);
  if (values.from.length === 0) throw missingFlag('--from', 'is required', 'give it once for each specification');
  const [{ readWorkloadSpecFile }, { composeSpecs }, { writeWorkloadSpec }] = await Promise.all([
    import('../../workload/spec/read-workload-spec.js'),
    import('../../workload/spec/compose-specs.js'),
    import('../../workload/spec/write-workload-spec.js'),
  ]);
  const parts = [];
  for (const path of values.from) parts.push({ path, spec: await readWorkloadSpecFile(path) });
  const { spec, notes } = composeSpecs(parts);
  const { warn } = createDiagnostics('warn', io);
  for (const note of notes) warn(note);
  io.stdout.write(writeWorkloadSpec(spec));
  return 0;
}
