import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { captured as twinyard } from '../test-io.fixture.js';

const RUN = 'run --model qwen/qwen3-14b --num-requests 20 --rate 20';
let folder: string;
let trace: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-'));
  trace = join(folder, 'trace');
  expect((await twinyard(`${RUN} --trace-output ${trace}`)).code).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true }));

const WINDOWS = fileURLToPath(new URL('../../../examples/workloads/windows.yaml', import.meta.url));

describe('bad input is one line that names the flag, and code 2', () => {
  const REPLAY = 'replay --model qwen/qwen3-14b --trace TRACE';
  const table: [args: string, message: string][] = [
    ['rnu', "command 'rnu': does not exist; did you mean 'run'?"],
    ['--modle', '--modle: no such flag'],
    ['version now', "'now': unexpected argument"],
    ['run', '--model: is required'],
    ['run --model', '--model: needs a value'],
    ['run --model nobody/knows-this', "--model: 'nobody/knows-this' is not in the catalogue"],
    ['run --model mistralai/mistral-nemo-instruct-2407', '--hardware: is required'],
    ['run --model mistralai/mistral-nemo-instruct-2407 --hardware H100', '--tp: is required'],
    ['run --model foo/mistral-nemo-instruct-2407', '--hardware: is required'],
    [`${RUN} --rat 3`, 'did you mean --rate?'],
    [`${RUN} --workload-spec x.yaml`, 'x.yaml: no such file; give the path of a readable file'],
    [`${RUN} extra`, "'extra': unexpected argument"],
    ['run --model qwen/qwen3-14b --rate 0', "--rate: '0' is too small; give a number above 0"],
    ['run --model qwen/qwen3-14b --rate -1', "--rate: '-1' is too small"],
    ['run --model qwen/qwen3-14b --rate NaN', "--rate: 'NaN' is not a number"],
    ['run --model qwen/qwen3-14b --num-requests 2.5', "--num-requests: '2.5' is not a whole number"],
    ['run --model qwen/qwen3-14b --num-requests 0', '--num-requests:'],
    ['run --model qwen/qwen3-14b --num-requests 1e300', '--num-requests:'],
    ['run --model qwen/qwen3-14b --rate 1e-300', '--rate: at 1e-300 requests per second, 100 requests take'],
    [`${RUN} --admission-latency 2e12`, "'2e12' is too large; give a whole number from 0 to 1000000000000"],
    [`${RUN} --timeout abc`, "--timeout: 'abc' is not a number; give a number up to 1000000000"],
    [`${RUN} --fitness-weights throughput:0`, '--fitness-weights (throughput):'],
    [
      `${RUN} --routing-policy weighted --routing-scorers queue-depth:1,`,
      '--routing-scorers: the list ends with a comma',
    ],
    [`${RUN} --policy-config /`, '/: is a folder'],
    [`${RUN} --num-instances -2`, "--num-instances: '-2' is too small; give a whole number from 1 to 100000"],
    [`${RUN} --num-instances 99999999999999999999`, "--num-instances: '99999999999999999999' is too large"],
    [`${RUN} --slow-factors 1,2`, '--slow-factors: 2 factors for 1 replica; give one for each replica at most'],
    [`${RUN} --fleet 2*H100,L9`, "--fleet: 'L9' is not in the catalogue; did you mean 'L4'?"],
    [`${RUN} --fleet 2*H100 --num-instances 2`, '--num-instances: is given with --fleet'],
    [`${RUN} --fleet H100 --tp 2`, '--tp: is given with --fleet'],
    [`${RUN} --fleet H100:3`, '--fleet:'],
    [`${RUN} --fleet none.json`, 'none.json'],
    [`${RUN} --fleet H100,L4 --interval`, '--interval: is given with --fleet'],
    [`${RUN} --fleet H100,,L4`, "--fleet: '' is not a kind of replica; give GPUs with their tensor parallelism"],
    [`${RUN} --gateways 0`, "--gateways: '0' is too small"],
    [`${RUN} --gateways 2 --flow-control`, '--gateways: is given with flow control'],
    [`${RUN} --slow-factors 1,0`, "--slow-factors: '0' is too small"],
    [`${RUN} --seed 1.5`, '--seed:'],
    [`${RUN} --horizon -1`, '--horizon:'],
    [`${RUN} --horizon soon`, '--horizon:'],
    [`${RUN} --timeout 0`, '--timeout:'],
    [`${RUN} --timeout never`, '--timeout:'],
    [`${RUN} --tp 3`, '--tp:'],
    [`${RUN} --tp 0`, '--tp:'],
    [`${RUN} --dp 2`, '--dp:'],
    [`${RUN} --hardware H1000`, "--hardware: 'H1000' is not in the catalogue; did you mean 'H100'?"],
    [`${RUN} --latency-model rooflien`, "--latency-model: 'rooflien' is not known; did you mean 'roofline'?"],
    [`${RUN} --moe-comm-backend pplxx`, '--moe-comm-backend:'],
    [`${RUN} --scheduler lifo`, '--scheduler:'],
    [`${RUN} --preemption-policy none`, '--preemption-policy:'],
    [`${RUN} --total-kv-blocks 0`, '--total-kv-blocks:'],
    [`${RUN} --gpu-memory-utilization 0`, '--gpu-memory-utilization:'],
    [`${RUN} --gpu-memory-utilization 1.5`, '--gpu-memory-utilization:'],
    [`${RUN} --gpu-memory-utilization 0.3`, '--total-kv-blocks'],
    [`${RUN} --block-size-in-tokens 0`, '--block-size-in-tokens:'],
    [`${RUN} --max-num-seqs 0`, '--max-num-seqs:'],
    [`${RUN} --max-num-seqs 3 --max-num-running-reqs 4`, '--max-num-running-reqs: given twice'],
    [`${RUN} --max-model-len -5`, '--max-model-len:'],
    [`${RUN} --model-config-folder /no/such/folder`, '--model-config-folder'],
    [`${RUN} --hardware-config /no/such/file`, '/no/such/file'],
    [`${RUN} --alpha-coeffs 1,2,3`, '--alpha-coeffs: given without --beta-coeffs'],
    [`${RUN} --beta-coeffs 1,2,3,4,5,6,7`, '--beta-coeffs: given without --alpha-coeffs'],
    [`${RUN} --alpha-coeffs 1,2 --beta-coeffs 1,2,3,4,5,6,7`, '--alpha-coeffs:'],
    [`${RUN} --alpha-coeffs 1,2,3 --beta-coeffs 1,2`, '--beta-coeffs:'],
    [
      `${RUN} --alpha-coeffs 1,2,3 --beta-coeffs 1,2,3,4,5,6,7 --latency-model roofline`,
      '--alpha-coeffs: --latency-model roofline has no',
    ],
    [`${RUN} --routing-policy wieghted`, "did you mean 'weighted'?"],
    [
      `${RUN} --routing-scorers queue-depth:1`,
      '--routing-scorers: has no effect with the routing policy round-robin; scorers do not choose the policy: add --routing-policy weighted',
    ],
    [
      `${RUN} --routing-policy weighted --routing-scorers queue-dept:1`,
      "--routing-scorers: unknown scorer 'queue-dept'; did you mean 'queue-depth'?",
    ],
    [`${RUN} --routing-policy weighted --routing-scorers queue-depth`, '--routing-scorers:'],
    [`${RUN} --routing-policy weighted --routing-scorers queue-depth:0`, '--routing-scorers:'],
    [`${RUN} --routing-policy weighted --routing-scorers queue-depth:1,queue-depth:2`, '--routing-scorers:'],
    [`${RUN} --tie-break random`, '--tie-break: has no effect with the routing policy round-robin'],
    [`${RUN} --snapshot-refresh-interval 0.5`, '--snapshot-refresh-interval:'],
    [`${RUN} --cache-signal-delay -1`, '--cache-signal-delay:'],
    [`${RUN} --admission-policy admit-all`, '--admission-policy:'],
    [`${RUN} --token-bucket-capacity 5`, '--token-bucket-capacity: the admission policy is always-admit'],
    [`${RUN} --admission-policy reject-all --token-bucket-refill-rate 5`, '--token-bucket-refill-rate:'],
    [`${RUN} --admission-policy token-bucket --token-bucket-capacity 0`, '--token-bucket-capacity:'],
    [`${RUN} --policy-config /no/such.yaml`, '/no/such.yaml'],
    [`${RUN} --dispatch-order fifo`, '--dispatch-order: there is no gateway queue; add --flow-control'],
    [`${RUN} --queue-shedding`, '--queue-shedding: there is no gateway queue'],
    [`${RUN} --flow-control --slo-targets critical=5`, '--slo-targets: --dispatch-order priority uses no targets'],
    [`${RUN} --flow-control --dispatch-order slo-deadline --slo-targets critical=5ms`, '--slo-targets (critical):'],
    [`${RUN} --flow-control --dispatch-order lifo`, '--dispatch-order:'],
    [`${RUN} --flow-control --saturation-detector x`, '--saturation-detector:'],
    [`${RUN} --flow-control --fairness-policy x`, '--fairness-policy:'],
    [`${RUN} --flow-control=on`, '--flow-control: is a switch'],
    [`${RUN} --flow-control --kv-cache-util-threshold 2`, '--kv-cache-util-threshold:'],
    [`${RUN} --workload chat`, "--workload: 'chat' is not known"],
    [`${RUN} --workload chatbot --prompt-tokens 5`, '--prompt-tokens: --workload chatbot has its own lengths'],
    [`${RUN} --concurrency 4`, '--rate: contradicts --concurrency'],
    [`${RUN} --think-time-ms 5`, '--think-time-ms: no client waits'],
    [`${RUN} --prompt-tokens 8000`, '--prompt-tokens'],
    [`${RUN} --output-tokens-min 100 --output-tokens-max 50`, '--output-tokens-min'],
    [`${RUN} --trace-level all`, '--trace-level:'],
    [`${RUN} --counterfactual-k 4`, '--counterfactual-k: no decisions are recorded; add --trace-level decisions'],
    [`${RUN} --summarize-trace`, '--summarize-trace: no decisions are recorded'],
    [`${RUN} --decisions-path x`, '--decisions-path: no decisions are recorded'],
    [`${RUN} --fitness-weights p99_tft:1`, "--fitness-weights: 'p99_tft' is not known; did you mean 'p99_ttft'?"],
    [`${RUN} --fitness-weights throughput:Infinity`, '--fitness-weights (throughput):'],
    [`${RUN} --slo-ttft critical=200`, "--slo-ttft (critical): '200' has no unit; give a duration with its unit"],
    [`${RUN} --slo-e2e critical`, '--slo-e2e:'],
    [`${RUN} --format yaml`, '--format:'],
    [`${RUN} --log loud`, '--log:'],
    [
      `${RUN} --metrics-path /no/such/folder/m.json`,
      "--metrics-path: cannot write '/no/such/folder/m.json': the folder",
    ],
    [`${RUN} --trace-output /no/such/folder/t`, '--trace-output: cannot write'],
    [`${RUN} --metrics-path /`, '--metrics-path:'],
    [`${RUN} --metrics-path TRACE.out --results-path TRACE.out`, '--results-path: names'],
    [`${RUN} --trace-output TRACE.x --metrics-path TRACE.x.csv`, 'which --metrics-path names too'],
    ['replay --model qwen/qwen3-14b', '--trace: is required'],
    [`run --model qwen/qwen3-14b --workload-spec ${WINDOWS} --rate 5`, 'windows.yaml have their own rates'],
    [
      'compare --model qwen/qwen3-14b --routing-policy random,sticky --cache /proc/x',
      'choose a folder that may be written',
    ],
    ['replay --model qwen/qwen3-14b --trace-data x.csv', 'x.csv: no such file'],
    ['replay --model qwen/qwen3-14b --trace-header x.yaml', '--trace-data: is required'],
    ['replay --model qwen/qwen3-14b --trace nope.csv', 'nope.csv: no such file'],
    [
      'replay --model qwen/qwen3-14b --trace /no/such/trace',
      '/no/such/trace: no such file; give a trace file, or the common name',
    ],
    [`${REPLAY} --trace-data x.csv`, '--trace-data: --trace'],
    [`${REPLAY} --rate 3`, '--rate: no such flag'],
    [`${REPLAY} --session-mode open`, '--session-mode:'],
    [`${REPLAY} --think-time-ms 5`, '--think-time-ms: turns come at their recorded times'],
    [
      `${REPLAY} --session-mode closed-loop --think-time-ms 5 --think-time-dist constant:value=5ms`,
      '--think-time-dist: given together',
    ],
    [`${REPLAY} --session-mode closed-loop --think-time-dist normal:mu=1`, '--think-time-dist:'],
    [`${REPLAY} --trace-output TRACE`, '--trace-output: would overwrite'],
    [`${REPLAY} --metrics-path TRACE.csv`, '--metrics-path: would overwrite'],
  ];

  it.each(table)('%s', async (args, message) => {
    const before = readdirSync(folder);
    const { code, stdout, stderr } = await twinyard(args.replaceAll('TRACE', trace));
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^twinyard: [^\n]+\n$/);
    expect([code, stdout]).toEqual([2, '']);
    expect(readdirSync(folder)).toEqual(before);
  });

  it('stays on one line for any input', async () => {
    const { code, stderr } = await twinyard(['run', '--rate', 'a\nb\x1b[31m']);
    expect(code).toBe(2);
    expect(stderr).toBe(
      "twinyard: --rate: 'a\\nb\\u001b[31m' is not a number; give a number above 0, at most 1000000\n",
    );
  });
});
