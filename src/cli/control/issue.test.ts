import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { captured as twinyard } from '../test-io.fixture.js';
import { head, inControlYard, printed } from './control-yard.fixture.js';

inControlYard();

describe('issue', () => {
  it('prints the text alone, or a document', async () => {
    writeFileSync('key.yaml', `${head('ApiKey', 'web')}spec: {}\n`);
    await printed('apply -f key.yaml');
    const { code, stderr, stdout } = await twinyard('issue web');
    expect([code, stderr]).toEqual([
      0,
      'twinyard: ApiKey default/web has a new secret; store it now, it is not shown again\n',
    ]);
    expect(stdout).toMatch(/^ty_[a-z0-9]{12}_[\w-]{43}\n$/);
    expect(JSON.parse(await printed('issue web -o json'))).toEqual({
      ...{ key_id: stdout.slice(3, 15), key: expect.stringMatching(/^ty_/) },
    });
    expect((await twinyard('issue none')).code).toBe(2);
    const hint = '"[\\w-]{4}"';
    expect(await printed('events key web --audit')).toMatch(
      new RegExp(`  admin  issue  ApiKey default/web\n  status\\.hint: ${hint} -> ${hint}\n$`),
    );
  });
});
