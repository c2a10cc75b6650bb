import { field, whole } from '../../../schema/fields.js';

/** The option of policies that look prompts up in the router's index. */
export function blockSizeOption(standard: number) {
  return field(whole(0), {
    default: standard,
    help: "tokens per block of the router's prompt index; 0: those of the replicas' KV blocks",
    search: { from: 16, to: 1024, log: true },
  });
}
