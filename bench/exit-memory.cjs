// Preloaded into a measured process: tells its greatest memory in MB on file descriptor 3 when it ends.
process.on('exit', () => require('node:fs').writeSync(3, String(process.resourceUsage().maxRSS / 1024)));
