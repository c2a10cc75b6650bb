import type { HelpList } from '../../flags/command-line.js';

/** The kinds of resources and the names they are accepted by, for the help of commands that take a KIND. */
export async function kindList(): Promise<HelpList[]> {
  const { KINDS, kindNames } = await import('../../../control/resources/kinds.js');
  return [{ title: 'Kinds', rows: KINDS.map((kind) => [kindNames(kind), kind.summary] as const) }];
}
