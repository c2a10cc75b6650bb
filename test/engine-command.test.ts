import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { CLI } from './support/cli.js';
import { fakeEngine, reply } from './support/engine-fixture.js';
import { captured } from './support/test-io.js';

describe('twinyard engine', () => {
  test('prints its address, and stops on a signal', async () => {
    const args = ['engine', '--model', 'qwen/qwen3-14b', '--port', '0', '--speed', '1000'];
    const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const exited = once(child, 'exit');
    let stdout = '';
    child.stdout.on('data', (text) => {
      stdout += text;
    });
    const lines: string[] = [];
    const reader = createInterface({ input: child.stderr });
    reader.on('line', (line) => lines.push(line));
    await once(reader, 'line');
    const [, url] = /^twinyard: qwen\/qwen3-14b on (http:\/\/127\.0\.0\.1:\d+)$/.exec(lines[0]!)!;
    const body = { model: 'qwen/qwen3-14b', messages: [{ role: 'user', content: 'hi' }], max_tokens: 10 };
    const response = fetch(`${url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(body) });
    expect((await reply(response)).usage.completion_tokens).toBe(10);
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    expect([stdout, lines]).toEqual(['', [lines[0]]]);
  });

  test('accepts its flags', async () => {
    const help = await captured('engine --help');
    for (const flag of ['--port', '--speed', '--fail-rate', '--startup-delay', '--total-kv-blocks']) {
      expect(help.stdout).toContain(flag);
    }
    const args = '--model meta-llama/llama-3.1-8b-instruct --served-model-name llama --port 0 --drain 0';
    const ended = await captured(`engine ${args} --fail-rate 0.5 --hang-rate 0 --slow-factor 2`);
    expect(ended).toMatchObject({ code: 0, stdout: '' });
    expect(ended.stderr).toMatch(/^twinyard: llama on http:\/\/127\.0\.0\.1:\d+\n$/);
  });

  test.each([
    ['engine --port 0', /--model: is required/],
    ['engine --model qwen/qwen3-14b --fail-rate 2', /--fail-rate/],
    ['engine --model qwen/qwen3-14b --speed 0', /--speed/],
    ['engine --model qwen/qwen3-14b --port 70000', /--port/],
  ])('%s is refused', async (args, message) => {
    const { code, stderr } = await captured(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});

const PYTHON = `
import sys, openai
import { CLI } from './support/cli.js';
client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="none", max_retries=0)
messages = [{"role": "user", "content": "hello"}]
whole = client.chat.completions.create(model="tiny", messages=messages, max_tokens=10)
stream = client.chat.completions.create(model="tiny", messages=messages, max_tokens=10, stream=True)
text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
assert text == whole.choices[0].message.content and len(text) == 40
assert client.completions.create(model="tiny", prompt="x", max_tokens=2).usage.completion_tokens == 2
assert len(client.embeddings.create(model="tiny", input="x").data[0].embedding) == 256
assert [model.id for model in client.models.list()] == ["tiny"]
try:
    client.chat.completions.create(model="other", messages=messages)
    raise AssertionError("no error")
except openai.NotFoundError:
    print("works")
`;

function hasPythonClient(): boolean {
  try {
    execFileSync('python3', ['-c', 'import openai'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test('the official Python client works as well', async ({ skip }) => {
  skip(!hasPythonClient(), 'python3 or its openai package was not found');
  const engine = await fakeEngine();
  const child = spawn('python3', ['-c', PYTHON, engine.url]);
  let output = '';
  const add = (text: Buffer) => {
    output += text;
  };
  child.stdout.on('data', add);
  child.stderr.on('data', add);
  await once(child, 'close');
  expect(output.trim()).toBe('works');
});
