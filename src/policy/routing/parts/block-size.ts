import { field, whole } from '../../../schema/fields.js';

/** The option of policies that look prompts up in the router's index. */
export function blockSizeOption(standard: number) {
  return field(whole(0), {
    default: standard,
    help: "tokens per block of the router's index of prompts; 0: as many as the replicas' KV blocks have",
  });
}
