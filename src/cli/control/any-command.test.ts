import { describe, expect, it } from 'vitest';
import { captured as twinyard } from '../test-io.fixture.js';
import { NOBODY_TOKEN, VIEWER_TOKEN } from './control-server.fixture.js';
import { inControlYard, printed, server } from './control-yard.fixture.js';

inControlYard();

describe('a server', () => {
  it('that refuses the token or its role is reported as such', async () => {
    expect(await twinyard('get ep --token wrong')).toMatchObject({
      code: 2,
      stderr: `twinyard: --token: is not accepted by ${server.url}: the admin token, or an API key with a role, is missing or wrong; give another\n`,
    });
    expect(await twinyard(`apply -f chat.yaml --token ${VIEWER_TOKEN}`)).toMatchObject({
      code: 2,
      stderr:
        'twinyard: --token: requires the role operator in some workspace; the caller has the role viewer; use a key with that role\n',
    });
    expect((await twinyard(`logs ep chat --token ${VIEWER_TOKEN}`)).code).toBe(2);
    await printed('apply -f chat.yaml');
    for (const token of [VIEWER_TOKEN, NOBODY_TOKEN]) {
      const { code, stderr } = await twinyard(`scale ep chat --replicas 1 --token ${token}`);
      expect([code, stderr]).toEqual([2, expect.stringContaining('requires the role operator in workspace')]);
    }
  });

  it('without TLS is reported with the http URL to use', async () => {
    const url = server.url.replace('http:', 'https:');
    for (const args of ['get ep', 'logs ep chat']) {
      expect(await twinyard(`${args} --server ${url} --token t`)).toMatchObject({
        code: 2,
        stderr: `twinyard: --server: ${url} does not speak TLS; give ${server.url}\n`,
      });
    }
  });

  it('that is neither named nor running here ends the command with 1', async () => {
    expect(await twinyard('get ep --data-dir none')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        "twinyard: no gateway runs here (no none/admin.json): start 'twinyard serve', or give --data-dir, --context, or --server and --token\n",
    });
  });

  it('that does not listen is reported with what to do', async () => {
    await server.hangUp();
    for (const args of ['get ep', 'wait ep chat --for ready', 'logs ep chat']) {
      expect(await twinyard(args)).toMatchObject({
        code: 1,
        stderr: `twinyard: ${server.url}: connection refused; the gateway recorded in .twinyard/admin.json is not running: start 'twinyard serve', or give --server and --token\n`,
      });
    }
    await server.listen();
  });
});
