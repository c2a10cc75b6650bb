import { fileURLToPath } from 'node:url';
import { h200 } from './h200.js';

/** How well what-if predicts: measured runs on real replicas (`h200 [folder]`). */
const [part = 'all', folder] = process.argv.slice(2);
const truth = folder ?? fileURLToPath(new URL('../../../../shared/truth/h200_fleet', import.meta.url));
const say = (line: string) => void process.stdout.write(`${line}\n`);

if (part === 'all' || part === 'h200') await h200(truth, say);
