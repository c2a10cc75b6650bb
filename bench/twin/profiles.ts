import { EngineTraffic } from '../../src/gateway/prediction/engine-traffic.js';
import { finishedRequest } from '../../src/gateway/request/finished-request.fixture.js';
import { physicsFamily } from '../../src/observe/fit/families/physics-family.js';
import { ENGINE, risingLoad } from '../../src/observe/fit/planted.fixture.js';
import { loadGpu } from '../../src/replica/catalogue/gpu-catalogue.js';
import { loadModel } from '../../src/replica/catalogue/model-catalogue.js';
import type { MakeFit } from '../../src/twin/profiles/fit/fit-thread.js';
import { plantedSamples } from '../../src/twin/profiles/fit/planted-samples.fixture.js';

/** The compiled product: only there is the program of the thread. */
const PRODUCT = new URL('../../../dist/twin/profiles/fit/fit-thread.js', import.meta.url);
const REQUESTS = 1_000_000;
const MOST_SHARE = 0.05;
const MOST_STEP_ERROR = 0.03;
const MOST_BYTES = 256 * 1024;

/** What profiles cost: a sample for every request, and the processor time of a fit in its thread over the time it takes. */
export async function profiles(say: (line: string) => void): Promise<boolean> {
  const traffic = new EngineTraffic('chat', 'vllm');
  const request = finishedRequest({ predictedTtftUs: 150_000, predictedItlUs: 40_000 });
  for (let i = 0; i < 10_000; i++) traffic.finished(request);
  const began = performance.now();
  for (let i = 0; i < REQUESTS; i++) traffic.finished(request);
  const ns = ((performance.now() - began) * 1e6) / REQUESTS;
  say(
    `sample and comparison of a request: ${ns.toFixed(0)} ns; ${traffic.samples.bytes} bytes after ${REQUESTS} requests`,
  );

  const model = 'qwen/qwen3-14b';
  const family = physicsFamily(loadModel(model), loadGpu('H100'), 1);
  const factors = [1.12, 0.9, 1.06, 1.6, 0.7, 0.7];
  const planted = family.costsOf(family.parameters.map(({ start }, i) => start * factors[i]!));
  const columns = plantedSamples([risingLoad(250, 10), risingLoad(250, 10, 2)], planted);
  const names = { name: 'planted', model, hardware: 'H100', tp: 1 };
  const start = { kind: 'catalogue', model, hardware: 'H100', tp: 1 } as const;
  const { fitInThread } = (await import(PRODUCT.href)) as { fitInThread: MakeFit };
  const cpuBefore = process.cpuUsage();
  const fitBegan = performance.now();
  const { busyMs, outcome, restMs } = await fitInThread(
    { columns, engine: ENGINE, start, current: null, names },
    new AbortController().signal,
  );
  const { system, user } = process.cpuUsage(cpuBefore);
  const takenMs = performance.now() - fitBegan;
  // The next fit waits for the rest.
  const share = (system + user) / 1000 / (takenMs + restMs);
  say(
    `fit: ${(busyMs / 1000).toFixed(1)} s of work in ${((takenMs + restMs) / 1000).toFixed(0)} s, ` +
      `${(100 * share).toFixed(1)} % of a core by the operating system (at most ${100 * MOST_SHARE} %)`,
  );
  const stepError = outcome!.profile.step.decodeOnly[0]!.us / planted.step.decodeOnly[0]!.us - 1;
  const { e2e, itl, ttft } = outcome!.score;
  const percent = (value: number) => `${(100 * value).toFixed(1)} %`;
  say(
    `planted profile: steps ${percent(stepError)} off, newer requests TTFT ${percent(ttft)}, ITL ${percent(itl)}, E2E ${percent(e2e)}`,
  );
  return share <= MOST_SHARE && Math.abs(stepError) <= MOST_STEP_ERROR && traffic.samples.bytes <= MOST_BYTES;
}
