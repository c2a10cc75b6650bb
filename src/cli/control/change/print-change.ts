import type { Resource } from '../../../control/resources/resource.js';
import { differences } from '../../../store/resources/resource-differences.js';
import type { CliIo } from '../../io.js';
import type { CalledResource } from '../targets/called-resource.js';

const content = ({ metadata, spec }: Resource) => ({ metadata: { labels: metadata.labels }, spec });
const text = (value: unknown) => (value === undefined ? '(absent)' : JSON.stringify(value));

/** Prints that a resource changed, and each field that differs. */
export function printChange(
  { shown }: Pick<CalledResource, 'shown'>,
  before: Resource,
  after: Resource,
  isDryRun: boolean,
  { stderr, stdout }: Pick<CliIo, 'stdout' | 'stderr'>,
): void {
  const found = differences(content(before), content(after));
  // A changed secret is stars before and after: the generation tells.
  const isSame = found.length === 0 && before.metadata.generation === after.metadata.generation;
  const lines = found.map((one) => `  ${one.path}: ${text(one.before)} -> ${text(one.after)}`);
  const head = `${shown} ${isDryRun ? 'would be ' : ''}${isSame ? 'unchanged' : 'changed'}`;
  stdout.write([head, ...lines].map((line) => `${line.replace(/\p{Cc}/gu, '?')}\n`).join(''));
  if (isDryRun) stderr.write('twinyard: nothing was changed\n');
}
