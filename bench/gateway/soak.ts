import { BenchTable } from '../bench-table.js';
import { SoakClients, SoakFleet, usageOf } from './soak-fleet.js';
import { twinSoak } from './twin-soak.js';

/**
 * Many concurrent streams for a minute, through the gateway to four emulated engines in separate processes: no error,
 * no memory growth after the first third, and the cost of a token. Arguments: streams, seconds, and the engines' speed,
 * which is low so that two cores can carry clients, gateway and engines. With `twin` and seconds: fewer streams and everything of the
 * live twin.
 */
const args = process.argv.slice(2);
const isTwin = args[0] === 'twin';
const numbers = args.slice(isTwin ? 1 : 0).map(Number);
if (numbers.some((one) => !(one > 0)) || numbers.length > (isTwin ? 1 : 3)) {
  process.stderr.write('usage: bench:soak -- [streams [seconds [speed]]], or bench:soak -- twin [seconds]\n');
  process.exit(1);
}
if (isTwin) await twinSoak(numbers[0] ?? 180);
else await soak(...(numbers as [number?, number?, number?]));

async function soak(streams = 1000, secondsLong = 60, speed = 0.25): Promise<void> {
  const fleet = new SoakFleet();
  try {
    await fleet.startEngines(speed);
    const pid = await fleet.startGateway(...fleet.urls.flatMap((url) => ['--replica', url]));
    const begun = usageOf(pid);
    const clients = new SoakClients(streams, (client, turn) => {
      const content = `stream ${client}, turn ${turn}: ${'tell me more. '.repeat(20)}`;
      return { messages: [{ role: 'user', content }], max_tokens: 100 };
    });
    const memory: number[] = [];
    for (let second = 0; second < secondsLong; second++) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      memory.push(usageOf(pid).memoryMb);
    }
    await clients.stop();
    const ended = usageOf(pid);
    const third = Math.floor(memory.length / 3);
    const warm = Math.max(...memory.slice(third, 2 * third));
    const last = Math.max(...memory.slice(2 * third));
    const { errors, finished, tokens } = clients;
    const table = new BenchTable();
    table.report(
      `${streams} streams, ${secondsLong} s`,
      `${finished} responses, ${errors} errors`,
      'no error',
      errors === 0 && finished > 0,
    );
    table.report(
      'memory: second third, last third',
      `${warm.toFixed(0)} MB, ${last.toFixed(0)} MB`,
      '<= 1.1 x',
      last <= warm * 1.1,
    );
    const perToken = ((ended.cpuS - begun.cpuS) * 1e6) / tokens;
    table.report('processor time of the gateway', `${perToken.toFixed(0)} us per chunk, ${tokens} chunks`, '', null);
    table.print();
  } finally {
    fleet.stop();
  }
}
