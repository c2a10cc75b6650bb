import { fileURLToPath } from 'node:url';

/** The program as it is shipped, for tests that start it as a process. */
export const CLI = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url));
