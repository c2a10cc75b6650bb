import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take long for their size, by project the longest first. A file that is not listed starts by its size. */
const LONG = [
  'test/browser/console.browser.ts',
  'test/docs.test.ts',
  'test/gateway-access.test.ts',
  'test/endpoints-failing.test.ts',
  'test/endpoints.test.ts',
  'src/cli/calibrate/fit.test.ts',
  'src/observe/fit/fit-profile.test.ts',
  'src/store/backup/backup.test.ts',
  'src/policy/registry.test.ts',
  'src/store/store.test.ts',
  'src/store/resources/resources-killed.test.ts',
  'src/gateway/decisions/parity.test.ts',
];

/** Starts last of the files that have a process of their own: a browser takes a core, and another file has one already. */
const SECOND_BROWSER = 'test/browser/security.browser.ts';

/**
 * Files with a process of their own run before those that share one, and long ones before short ones: no core is idle
 * while the last file runs.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const path = relative(this.ctx.config.root, moduleId).replaceAll('\\', '/');
      const place = LONG.indexOf(path);
      const own = place >= 0 ? place : path === SECOND_BROWSER ? LONG.length + 1 : LONG.length;
      return (project.config.isolate ? 0 : LONG.length + 2) + own;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
