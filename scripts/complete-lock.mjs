// Adds the packages of other platforms to package-lock.json. A registry mirror that does not carry them makes npm leave them
// out, and then 'npm ci' refuses the lock file. Run it after every 'npm install' that changed the lock file.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const file = join(dirname(fileURLToPath(import.meta.url)), '..', 'package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8'));
const part = (name, names) => names.find((one) => name.split(/[-/]/).includes(one));
const OS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const CPU = ['arm', 'arm64', 'ppc64', 's390x', 'wasm32', 'x64'];

let added = 0;
for (const owner of Object.values({ ...lock.packages })) {
  for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    if (lock.packages[key] !== undefined) continue;
    const os = part(name, OS);
    const cpu = part(name, CPU);
    const libc = { gnu: 'glibc', gnueabihf: 'glibc', musl: 'musl' }[part(name, ['gnu', 'gnueabihf', 'musl'])];
    lock.packages[key] = {
      version,
      ...(cpu === undefined ? {} : { cpu: [cpu] }),
      ...(owner.dev === true ? { dev: true } : {}),
      ...(libc === undefined ? {} : { libc: [libc] }),
      optional: true,
      ...(os === undefined ? {} : { os: [os] }),
    };
    added++;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`${added} packages added\n`);
