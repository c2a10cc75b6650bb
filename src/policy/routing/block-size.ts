import { numberOption } from '../options.js';

/** The option of policies that look prompts up in the router's index. */
export function blockSizeOption(standard: number) {
  return numberOption({
    default: standard,
    from: 0,
    whole: true,
    help: "tokens per block of the router's index of prompts; 0: as many as the replicas' KV blocks have",
  });
}
