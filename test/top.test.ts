import { describe, expect, test } from 'vitest';
import { main } from '../src/cli/main.js';
import { fakeEngine, question, until } from './support/engine-fixture.js';
import { gatewayOver } from './support/gateway-fixture.js';
import { captured, testIo } from './support/test-io.js';

/** A gateway over two emulated engines that has served a stream, and serves another when asked to. */
async function served() {
  const gateway = await gatewayOver([await fakeEngine(), await fakeEngine()]);
  const serve = async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(question('hello', { max_tokens: 3, stream: true })),
    });
    await response.text();
  };
  await serve();
  return { gateway, serve, server: ['--server', gateway.adminUrl, '--token', gateway.adminToken] };
}

describe('twinyard top', () => {
  test('prints one frame of at most 80 columns where the output is no terminal, and with --once', async () => {
    const { serve, server } = await served();
    /** A frame in which there were requests lately: on a busy machine the last one may be long ago. */
    const shown = async (args: readonly string[], isTTY: boolean) => {
      for (;;) {
        const ended = await captured(['top', ...args], { isTTY, env: { NO_COLOR: '1' } });
        if (ended.code !== 0 || / ms /.test(ended.stdout)) return ended;
        await serve();
      }
    };
    for (const [args, isTTY] of [
      [server, false],
      [['--once', ...server], true],
    ] as const) {
      const { code, stderr, stdout } = await shown(args, isTTY);
      expect([code, stderr]).toEqual([0, '']);
      const lines = stdout.trimEnd().split('\n');
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
      expect(stdout).toContain('1 endpoint, 2 of 2 replicas ready, 0 in flight, 0 queued');
      expect(stdout).toMatch(/^default +\d+\.\d +0\.0 +\d+ ms +\d+ ms +\d+\.\d +0 +0$/m);
      expect(stdout.match(/^r[01] +ready +\d+\.\d +0 /gm)).toHaveLength(2);
      expect(stdout).not.toContain('\x1b');
    }
  });

  test('draws frames on a terminal until it is stopped, and restores the terminal', async () => {
    const { gateway, server } = await served();
    let stop = () => {};
    const stopped = new Promise<void>((resolve) => {
      stop = resolve;
    });
    const io = testIo({ isTTY: true, stopped });
    const ended = main(['top', '--interval', '0.1', ...server], io);
    await until(() => io.stdoutText().includes('rates of the last'));
    await gateway.close(0);
    await until(() => io.stdoutText().includes('connection refused'));
    stop();
    expect(await ended).toBe(0);
    const text = io.stdoutText();
    expect(text.startsWith('\x1b[?1049h\x1b[?25l\x1b[H')).toBe(true);
    expect(text.endsWith('\x1b[?25h\x1b[?1049l')).toBe(true);
    expect(io.stderrText()).toBe('');
  });

  test('fails without a gateway before it touches the terminal', async () => {
    const gateway = await gatewayOver([await fakeEngine()]);
    const { adminUrl } = gateway;
    await gateway.close(0);
    const { code, stderr, stdout } = await captured(['top', '--server', adminUrl, '--token', 't'], {
      isTTY: true,
      stopped: new Promise(() => {}),
    });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`${adminUrl}: connection refused`);
  });

  test('ends when it is stopped before the first response', async () => {
    const gateway = await gatewayOver([await fakeEngine()]);
    const io = testIo({ isTTY: true });
    expect(await main(['top', '--server', gateway.adminUrl, '--token', gateway.adminToken], io)).toBe(0);
    expect(io.stderrText()).toBe('');
  });
});
