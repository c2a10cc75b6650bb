/**
 * Loaded before the server: measures it from inside. `memory` is replied to with the resident bytes after a garbage
 * collection, `watch` starts to measure turns of the event loop, `turn` is replied to with the processor time of the
 * longest one since, in milliseconds. Processor time, since others may use the machine meanwhile.
 */
let longestMs = 0;
let isWatching = false;
let before = process.cpuUsage();

function turn(): void {
  const { system, user } = process.cpuUsage(before);
  longestMs = Math.max(longestMs, (user + system) / 1000);
  before = process.cpuUsage();
  if (isWatching) setImmediate(turn);
}

process.on('message', (message) => {
  if (message === 'memory') {
    for (let i = 0; i < 3; i++) globalThis.gc!();
    process.send!(process.memoryUsage.rss());
  } else if (message === 'watch') {
    longestMs = 0;
    isWatching = true;
    before = process.cpuUsage();
    setImmediate(turn);
    process.send!('watching');
  } else {
    isWatching = false;
    process.send!(longestMs);
  }
});
process.channel!.unref();
