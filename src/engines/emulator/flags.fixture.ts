/**
 * Flags of `twinyard engine`, without the leading '--'; test/emulator-flags.test.ts compares them with the command.
 */
export const flags: Readonly<Record<string, string>> = {
  v1: `
    alpha-coeffs beta-coeffs block-size-in-tokens disconnect-rate dp drain engine-rules fail-rate
    gpu-memory-utilization hang-rate hardware hardware-config host latency-model latency-profile log
    long-prefill-token-threshold max-body-bytes max-model-len max-num-batched-tokens max-num-queued-reqs
    max-num-running-reqs max-num-scheduled-tokens max-num-seqs mean-output-tokens model model-config-folder
    moe-comm-backend port preemption-policy queueing-latency scheduler seed served-model-name slow-factor speed
    startup-delay total-kv-blocks tp
  `,
};
