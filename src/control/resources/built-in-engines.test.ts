import { expect, test } from 'vitest';
import { builtInEngines } from './built-in-engines.js';
import { checkResource } from './check-resource.js';

test.each(builtInEngines().map((one) => [one.metadata.name, one] as const))(
  'the built-in engine %s passes the checks that every Engine passes',
  (_, engine) => {
    expect(checkResource(engine, (path) => path)).toEqual({ resource: engine });
  },
);
