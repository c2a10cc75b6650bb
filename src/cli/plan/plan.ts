import type { PlanDocument } from '../../experiment/plan/plan-document.js';
import { summaryOf } from '../commands.js';
import type { Setting, Settings } from '../compare/settings.js';
import { createDiagnostics } from '../diagnostics.js';
import { conflictingFlags, missingFlag } from '../errors.js';
import { commandText } from '../execution/command-text.js';
import { keepFound, openExecutor } from '../execution/open-executor.js';
import { printResult } from '../execution/print-result.js';
import { signalCleanUps } from '../execution/signal-clean-ups.js';
import type { CommandLine } from '../flags/command-line.js';
import type { FlagValues } from '../flags/flag.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { checkOutputs, type NamedPath } from '../output/output-files.js';
import { limitCompiler } from '../tune-v8.js';
import { gatewayPlanFlags } from './gateway-flags.js';
import { PLAN_FILE, type PlanFlags, planGroups, plannedFleetFlags } from './plan-flags.js';

export const PLAN: CommandLine = {
  name: 'plan',
  summary: summaryOf('plan'),
  about:
    "Use it to size a fleet: it finds the least fleet that keeps the SLOs at a load, or with --num-instances or --fleet the greatest load that a fleet keeps. Every load is simulated until it is clear that its backlog does not grow, and the verdict says how sure it is. A file with 'kind: Plan' describes the same; flags win over it. With --gateway the plan is for the traffic that a running gateway recorded, with its policy and the latency profile of its engines.",
  operands: { usage: '[plan.yaml]', least: 0, most: 1 },
  groups: planGroups,
  examples: [
    'plan --model qwen/qwen3-14b --rate 20 --prompt-tokens 1000 --output-tokens 300 --slo-ttft p99=500ms --slo-itl mean=30ms --gpu H100 --tp 1,2 --format table',
    'run --model qwen/qwen3-14b --num-instances 2 --rate 8 --num-requests 300 --trace-output morning',
    'plan --model qwen/qwen3-14b --trace morning --rate 3x --slo-ttft p99=500ms --format table --report plan.html',
    'plan --model qwen/qwen3-14b --trace morning --num-instances 4 --slo-ttft p99=500ms --format table',
    'plan --model qwen/qwen3-14b --trace morning --fleet 1*H200,2*A100-80 --routing-policy predicted-latency --slo-ttft p99=1s --format table',
    'plan --gateway http://127.0.0.1:8081 --endpoint chat --last 1h --rate 2x --slo-ttft p99=500ms --format table',
  ],
};

/** Finds the least fleet, or the greatest load, that keeps the SLOs. */
export async function plan(argv: readonly string[], io: CliIo): Promise<number> {
  const { flags, given, inputs } = await readInputs(argv);
  const { values } = flags;
  checkOutputs(values.report === null ? [] : [{ flag: '--report', path: values.report }], inputs);
  const slos = [...values['slo-ttft'], ...values['slo-itl'], ...values['slo-tpot'], ...values['slo-e2e']];
  if (slos.length === 0) {
    const hint = 'say what the fleet has to keep, as in --slo-ttft p99=500ms or --slo-itl mean=30ms';
    throw missingFlag('--slo-ttft', 'or another SLO is required', hint);
  }
  if (values.gateway !== null) {
    const { planGateway } = await import('./plan-gateway.js');
    return planGateway(flags, slos, argv, PLAN, io);
  }
  checkGatewayFlags(flags);
  const diagnostics = createDiagnostics(values.log, io);
  const signals = signalCleanUps(io);
  limitCompiler(Number.POSITIVE_INFINITY);
  const label = { title: 'Plan', command: commandText('plan', argv, PLAN) };
  const executor = await openExecutor(flags, label, signals, diagnostics);
  try {
    const [{ makePlan }, { createPlanRuns }, { runCacheOf }] = await Promise.all([
      import('./make-plan.js'),
      import('../execution/plan-runs.js'),
      import('../execution/run-cache-of.js'),
    ]);
    const cache = await runCacheOf(flags, io.env, diagnostics);
    const runs = createPlanRuns({ executor, cache, signals, io, diagnostics });
    let document: PlanDocument;
    try {
      document = await makePlan({ flags, given, slos, argv, line: PLAN, diagnostics, simulate: runs.simulate });
    } finally {
      runs.end();
    }
    await keepFound(executor, { kind: 'Plan', found: document }, values.executor, io);
    await printResult({ kind: 'Plan', found: document }, values, { ...io, beforeSignal: signals.add });
    return 0;
  } finally {
    await executor.close();
  }
}

/** Flags that say nothing without a gateway. */
function checkGatewayFlags({ given }: FlagValues<PlanFlags>): void {
  for (const flag of Object.keys(gatewayPlanFlags) as (keyof typeof gatewayPlanFlags)[]) {
    if (given(flag))
      throw conflictingFlags(`--${flag}`, 'is given without --gateway', 'add --gateway, or leave it out');
  }
}

/** The flags, and what an experiment file adds to them. */
async function readInputs(argv: readonly string[]): Promise<{
  flags: FlagValues<PlanFlags>;
  given: Settings;
  inputs: NamedPath[];
}> {
  const parsed = await parseFlags<PlanFlags>(PLAN, argv);
  const path = parsed.operands[0];
  const own = givenSettings(parsed);
  if (path === undefined) return { flags: parsed, given: own, inputs: inputPaths(parsed.values, own) };
  const { withExperimentFile } = await import('../compare/experiment-file.js');
  const { flags, settings: given } = await withExperimentFile(PLAN_FILE, path, parsed, own);
  for (const [name, { place }] of given) {
    if (Object.hasOwn(plannedFleetFlags, name)) continue;
    throw conflictingFlags(
      place,
      'is not a setting of a fleet or its traffic',
      'write it beside base, or leave it out',
    );
  }
  return { flags, given, inputs: [...inputPaths(flags.values, given), { flag: 'the experiment', path }] };
}

/** The settings of the fleet and the traffic, as texts. */
function givenSettings({ values }: { values: object }): Settings {
  const texts = values as Record<string, string | null>;
  const named = Object.keys(plannedFleetFlags).filter((name) => texts[name] !== null);
  return new Map(named.map((name): [string, Setting] => [name, { text: texts[name]!, place: `--${name}` }]));
}

function inputPaths({ fleet, prices }: FlagValues<PlanFlags>['values'], given: Settings): NamedPath[] {
  const paths = prices === null ? [] : [{ flag: '--prices', path: prices }];
  for (const { profile } of fleet ?? []) if (profile !== null) paths.push({ flag: '--fleet', path: profile });
  for (const name of [
    'policy-config',
    'hardware-config',
    'latency-profile',
    'workload-spec',
    'trace',
    'trace-header',
    'trace-data',
  ]) {
    const setting = given.get(name);
    if (setting !== undefined) paths.push({ flag: `--${name}`, path: setting.text });
  }
  return paths;
}
