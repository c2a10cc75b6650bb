import { startEngine } from '../../src/emulator/start-engine.js';
import { cluster } from '../simulator/scenario.js';
import type { Arrival } from './model-says.js';

/** The engine under test in its own process: reports its address to the parent, and at the end the arrival times. */
const arrivals: Arrival[] = [];
const { config, latency } = cluster(1, 'round-robin');
const engine = await startEngine({
  config: config.replica,
  latency,
  arrived: (atUs, inputTokens, outputTokens) => arrivals.push({ atUs, inputTokens, outputTokens }),
});
process.on('message', async (what) => {
  if (what === 'forget') arrivals.length = 0;
  else if (what === 'tell') process.send!({ arrivals });
  else await engine.close();
});
process.on('disconnect', () => engine.close());
process.send!({ url: engine.url });
