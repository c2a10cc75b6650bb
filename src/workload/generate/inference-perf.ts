import type { CohortSpec, InferencePerfSpec } from '../spec/workload-spec.js';
import { gapSamplerOf } from './plan-schedules.js';
import { type PlannedWindow, WindowSchedule } from './schedules/window-schedule.js';
import { planTraffic, type Traffic } from './traffic.js';

/** Rates times durations are whole numbers up to rounding errors. */
const ROUNDING = 1e-9;

interface Stage {
  rate: number;
  startUs: number;
  endUs: number;
  /** Of all users together. */
  requests: number;
}

/**
 * Users who share system prompts. One stage sends exactly rate times duration requests, spread evenly over the users;
 * several stages send at random, each at its rate. With sessions every user holds one in each stage.
 */
export function planInferencePerf(
  perf: InferencePerfSpec,
  horizonUs: number,
  timeoutUs: number | undefined,
): Traffic[] {
  const { num_unique_system_prompts: prompts, num_users_per_system_prompt: users } = perf.shared_prefix;
  const chats = perf.shared_prefix.enable_multi_turn_chat ?? false;
  const stages = stagesOf(perf);
  const planned: Traffic[] = [];
  for (let prompt = 0; prompt < prompts; prompt++) {
    if (!chats) {
      const windows = stages.map((stage) => requestWindow(stage, stages.length === 1, prompt, prompts, users));
      const cohort = cohortOf(perf, `prompt-${prompt}`, prompt);
      planned.push(planTraffic(cohort, new WindowSchedule(windows, users, horizonUs), timeoutUs));
      continue;
    }
    for (const [i, stage] of stages.entries()) {
      const id = stages.length === 1 ? `prompt-${prompt}` : `prompt-${prompt}/stage-${i}`;
      const thinkUs = Math.round((prompts * users * 1e6) / stage.rate);
      const rounds = Math.max(1, Math.round(stage.requests / (prompts * users)));
      const multi_turn = { max_rounds: rounds, think_time_us: thinkUs, single_session: true };
      const cohort: CohortSpec = { ...cohortOf(perf, id, prompt), reasoning: { multi_turn } };
      const schedule = new WindowSchedule([chatWindow(stage, thinkUs, users)], users, horizonUs);
      planned.push(planTraffic(cohort, schedule, timeoutUs));
    }
  }
  return planned;
}

function stagesOf({ stages }: InferencePerfSpec): Stage[] {
  let startUs = 0;
  return stages.map(({ rate, duration }) => {
    const endUs = startUs + Math.round(duration * 1e6);
    const stage = { rate, startUs, endUs, requests: Math.floor(rate * duration + ROUNDING) };
    startUs = endUs;
    return stage;
  });
}

function requestWindow(stage: Stage, isExact: boolean, prompt: number, prompts: number, users: number): PlannedWindow {
  const all = prompts * users;
  const gaps = gapSamplerOf({ process: 'poisson' }, stage.rate / all);
  // The remainder goes to the first users, prompt by prompt.
  const remainder = Math.min(users, Math.max(0, (stage.requests % all) - prompt * users));
  const requests = isExact ? Math.floor(stage.requests / all) * users + remainder : null;
  return { startUs: stage.startUs, endUs: stage.endUs, gaps, requests };
}

/** Every user begins once, within the first pause. */
function chatWindow(stage: Stage, thinkUs: number, users: number): PlannedWindow {
  const endUs = Math.min(stage.endUs, stage.startUs + Math.max(2, thinkUs));
  return { startUs: stage.startUs, endUs, gaps: gapSamplerOf({ process: 'poisson' }, 1), requests: users };
}

function cohortOf({ shared_prefix }: InferencePerfSpec, id: string, prompt: number): CohortSpec {
  const group = `prompt-${prompt}`;
  return {
    id,
    population: shared_prefix.num_users_per_system_prompt,
    tenant_id: group,
    slo_class: 'standard',
    prefix_group: group,
    prefix_length: shared_prefix.system_prompt_len,
    input_distribution: { type: 'constant', params: { value: shared_prefix.question_len } },
    output_distribution: { type: 'constant', params: { value: shared_prefix.output_len } },
  };
}
