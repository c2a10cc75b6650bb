import { existsSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inTestFolder, silent } from '../test-folder.fixture.js';
import { captured as twinyard } from '../test-io.fixture.js';

inTestFolder(() => {});

describe('backup and restore', () => {
  it('bring all of a store into another', async () => {
    await twinyard('keys create --name web --store a.db');
    const saved = await twinyard('backup --store a.db --to monday.backup');
    expect(saved).toEqual({
      code: 0,
      stdout: '',
      stderr: 'twinyard: monday.backup holds all of a.db; its secrets need their key file, which is not in it\n',
    });
    expect(statSync('monday.backup').mode & 0o777).toBe(0o600);
    const restored = await twinyard('restore --store b.db --from monday.backup');
    expect(restored).toEqual({
      code: 0,
      stdout: '',
      stderr: 'twinyard: b.db holds what monday.backup did; put the key file of its secrets beside it\n',
    });
    expect(await silent('keys list --store b.db')).toBe(await silent('keys list --store a.db'));
  });

  it.each([
    ['backup --store a.db', '--to: is required; name the new file'],
    ['backup --store none.db --to x', 'store none.db: does not exist'],
    ['backup --store a.db --to there', 'there: already exists; choose another name'],
    [
      'backup --store a.db --to no/x',
      'no/x: cannot be written (its folder does not exist); choose a file in a folder that you may write to',
    ],
    ['restore --store b.db', '--from: is required; name the backup'],
    ['restore --store a.db --from copy', 'store a.db: is not empty'],
    ['restore --store b.db --from there', 'there: is not a backup; choose a file that `twinyard backup` wrote'],
    ['restore --store b.db --from nowhere', 'nowhere: cannot be read (no such file)'],
  ])('%s is refused', async (args, message) => {
    await twinyard('keys create --name web --store a.db');
    await twinyard('backup --store a.db --to copy');
    writeFileSync('there', '{}\n');
    const ended = await twinyard(args);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(`twinyard: ${message}`);
    expect(existsSync('none.db')).toBe(false);
  });
});
