import { readdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inTestFolder } from '../test-folder.fixture.js';
import { captured as twinyard } from '../test-io.fixture.js';

const SECRET = 'iU0gcm4rPIVxMtskM1tn8fh8pmKzDWYjDzDmPprgGAk';
const REPLICAS = 'replicas:\n  - url: http://127.0.0.1:9001\n';

inTestFolder(() => {
  writeFileSync('notes.db', 'no database, '.repeat(100));
  writeFileSync('plain.yaml', REPLICAS);
  writeFileSync('golden.yaml', `store: g.db\n${REPLICAS}policy:\n  admission:\n    slo_priorities: { gold: 9 }\n`);
  writeFileSync('bad.yaml', `stor: x\n${REPLICAS}`);
});

describe('bad input is one line with a hint, and code 2', () => {
  const CREATE = 'keys create --name n';
  const table: [args: string, message: string][] = [
    ['keys', "command 'keys': needs a subcommand; known: keys create, keys list"],
    ['keys creat', "command 'keys creat': does not exist; did you mean 'keys create'?"],
    ['keys create', '--name: is required; give the key a name'],
    ['keys create --name', '--name: needs a value'],
    ['keys create n', "'n': unexpected argument"],
    ['keys create --nam n', '--nam: no such flag; did you mean --name?'],
    [`${CREATE} --name o`, "--name: given twice, as 'n' and as 'o'"],
    [
      `${CREATE} --max-slo-class standart`,
      "--max-slo-class: no policy defines the class 'standart'; did you mean 'standard'? known: critical,",
    ],
    [`${CREATE} --max-slo-class gold --store a.db`, "no policy defines the class 'gold'; known: critical, standard"],
    [
      `${CREATE} --max-slo-class silver -c golden.yaml`,
      "'silver'; known: critical, standard, batch, sheddable, background, gold",
    ],
    [`${CREATE} --role root`, "--role: 'root' is not known"],
    [`${CREATE} --expires 30`, "--expires: '30' is not a time; give 'never', a duration as in '30d'"],
    [`${CREATE} --expires 2026-02-30`, "--expires: '2026-02-30' is not a time"],
    [`${CREATE} --expires 2100-01-01T00:00`, "--expires: '2100-01-01T00:00' is not a time"],
    [
      `${CREATE} --expires 2020-01-01`,
      "--expires: '2020-01-01T00:00:00.000Z' is in the past; give a time in the future",
    ],
    [`${CREATE} --expires 0d`, 'is in the past'],
    [`${CREATE} --expires 9999w`, "--expires: '9999w' is too long; give a hundred years at most"],
    [`${CREATE} --requests-per-minute 0`, "--requests-per-minute: '0' is too small"],
    [`${CREATE} --tokens-per-day 1.5`, "--tokens-per-day: '1.5' is not a whole number"],
    [`${CREATE} --concurrent -1`, "--concurrent: '-1' is too small"],
    [`${CREATE} --concurrent many`, "--concurrent: 'many' is not a number"],
    [`${CREATE} --dollars-per-day 0`, "--dollars-per-day: '0' is too small; give a number above 0, at most 9000000"],
    [`${CREATE} --dollars-per-month 1e9`, "--dollars-per-month: '1e9' is too large"],
    [`${CREATE} --limit requests-per-minute=5`, "--limit: 'requests-per-minute=5' names no model"],
    [`${CREATE} --limit model=m`, "--limit: 'model=m' has no limit"],
    [`${CREATE} --limit model=m,model=n,concurrent=1`, 'names two models'],
    [`${CREATE} --limit model=m,concurrent`, "--limit: 'concurrent' is not of the form name=value"],
    [`${CREATE} --limit model=,concurrent=1`, "--limit: 'model=' is not of the form name=value"],
    [`${CREATE} --limit model=m,concurent=1`, "--limit: 'concurent' is not known; did you mean 'concurrent'?"],
    [`${CREATE} --limit model=m,concurrent=1,concurrent=2`, "--limit: 'concurrent' appears twice"],
    [`${CREATE} --limit model=m,concurrent=0`, "--limit (concurrent): '0' is too small"],
    [`${CREATE} --format csv`, "--format: 'csv' is not known"],
    [`${CREATE} --store mysql://ann:${SECRET}@db/x`, 'store mysql://...: is neither SQLite nor PostgreSQL'],
    [`${CREATE} --store a.db --store ${SECRET}`, '--store: is given twice; keep one of them'],
    [`${CREATE} --store a.db --server http://127.0.0.1:1`, '--store: is given together with a server; name a store or'],
    [`${CREATE} --store a.db -c plain.yaml`, '--store: is given together with --config; keep one of them'],
    [`${CREATE} --store notes.db`, 'store notes.db: is not an SQLite database'],
    [`${CREATE} -c plain.yaml`, "--store: plain.yaml names no store; give it, or add 'store: twinyard.db' there"],
    [`${CREATE} -c bad.yaml`, 'bad.yaml:1:1 (stor): '],
    [`${CREATE} -c nowhere.yaml`, 'nowhere.yaml: no such file'],
    ['keys show', "KEY: is required; write 'twinyard keys show KEY'"],
    ['keys show a b', "'b': unexpected argument"],
    ['keys show a --store made.db', 'store made.db: does not exist; check the address'],
    ['keys update a', "command 'keys update': no setting is given"],
    ['keys update a --expires 2020-01-01', 'is in the past; give a time in the future'],
    ['keys update a --grace 1h', '--grace: no such flag'],
    ['keys rotate a --grace 5', "--grace: '5' has no unit; give a duration with its unit"],
    ['keys rotate a --grace soon', "--grace: 'soon' is not a duration"],
    ['keys usage a', "'a': unexpected argument"],
    ['keys usage --from yesterday', "--from: 'yesterday' is not a day; give one as in '2026-01-31'"],
    ['keys usage --to 2026-13-01', "--to: '2026-13-01' is not a day"],
    ['keys usage --from 2026-02-01 --to 2026-01-31', '--to: is before --from; give a later day'],
    ['keys usage --by modell', "--by: 'modell' is not known; did you mean 'model'?"],
    ['keys usage --by day,day', "--by: 'day' appears twice"],
    ['keys usage --format xml', "--format: 'xml' is not known"],
  ];

  it.each(table)('%s', async (args, message) => {
    const before = readdirSync('.');
    const { code, stdout, stderr } = await twinyard(args);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain(SECRET);
    expect(stderr).toMatch(/^twinyard: [^\n]+\n$/);
    expect([code, stdout]).toEqual([2, '']);
    expect(readdirSync('.')).toEqual(before);
  });

  it.each<[words: string[], message: string]>([
    [['create', '--name', 'A b'], "--name: 'A b' is not valid"],
    [['create', '--name', 'a\tb'], '--name: '],
    [['create', '--name', 'n', '--model', ' '], "--model: ' ' is empty"],
    [['create', '--name', 'n', '--store', ''], "store '': is empty"],
    [['show', 'nobody'], "key 'nobody': does not exist; 'twinyard keys list' shows those that do"],
    [['show', `ty_igrnrs2sf2pg_${SECRET}`], 'key: does not exist'],
    [['show', `ty_igrnrs2sf2pg_${SECRET}x`], 'key: does not exist'],
    [['revoke', SECRET], 'key: does not exist'],
    [['usage', '--key', 'nobody'], "key 'nobody': does not exist"],
    [['update', 'web', '--tenant', 'a\tb'], '--tenant: '],
  ])('keys %j', async (words, message) => {
    expect((await twinyard('keys create --name web')).code).toBe(0);
    const { code, stdout, stderr } = await twinyard(['keys', ...words]);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain(SECRET);
    expect([code, stdout]).toEqual([2, '']);
  });
});
