import { type RequestTable, setSourceId, sourceIdOf } from '../request-table.js';

/** Names and facts of names, so that rows of one table can be copied to the other. */
export function copyTableNames(from: RequestTable, to: RequestTable): void {
  for (const kind of ['sloClasses', 'tenants', 'models', 'clients', 'prefixGroups', 'sessions'] as const) {
    for (const name of from[kind].names()) to[kind].index(name);
  }
  from.prefixTokens.forEach((tokens, group) => {
    to.prefixTokens[group] = tokens;
  });
  from.contextTokens.forEach((tokens, session) => {
    to.contextTokens[session] = tokens;
  });
  to.networks.push(...from.networks);
}

/** Appends a row of another table whose names were copied, with its blocks; returns its number. */
export function copyRow(from: RequestTable, row: number, to: RequestTable): number {
  const copy = to.append();
  setSourceId(to, copy, sourceIdOf(from, row));
  to.arrivalUs[copy] = from.arrivalUs[row]!;
  to.inputTokens[copy] = from.inputTokens[row]!;
  to.outputTokens[copy] = from.outputTokens[row]!;
  to.deadlineUs[copy] = from.deadlineUs[row]!;
  to.sloTargetUs[copy] = from.sloTargetUs[row]!;
  to.sloClass[copy] = from.sloClass[row]!;
  to.tenant[copy] = from.tenant[row]!;
  to.model[copy] = from.model[row]!;
  to.client[copy] = from.client[row]!;
  to.prefixGroup[copy] = from.prefixGroup[row]!;
  to.session[copy] = from.session[row]!;
  to.round[copy] = from.round[row]!;
  to.flags[copy] = from.flags[row]!;
  copyContent(from, row, to, copy);
  return copy;
}

/** What a prompt consists of: its blocks and kinds of tokens. */
export function copyContent(from: RequestTable, row: number, to: RequestTable, copy: number): void {
  if (from.blocks !== null) to.blocks!.copyRow(from.blocks, row, copy);
  if (from.kinds === null) return;
  const kinds = to.ensureKinds();
  kinds.text[copy] = from.kinds.text[row]!;
  kinds.image[copy] = from.kinds.image[row]!;
  kinds.audio[copy] = from.kinds.audio[row]!;
  kinds.video[copy] = from.kinds.video[row]!;
  kinds.reasonRatio[copy] = from.kinds.reasonRatio[row]!;
}
