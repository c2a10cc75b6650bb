import { createServer, type Socket } from 'node:net';

/**
 * Four backends that answer at once, in a process of their own: as little HTTP as it takes, so that what is measured is what
 * stands in front of them. Arguments: their ports. Says `ready` when they listen.
 */
const PIECES = 16;
const answer = JSON.stringify({
  id: 'cmpl-1',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello world' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 340, completion_tokens: 2, total_tokens: 342 },
});
const event = `data: ${JSON.stringify({ id: 'cmpl-1', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'hello ' } }] })}\n\n`;
const piece = Buffer.from(`${event.length.toString(16)}\r\n${event}\r\n`);
const streamHead = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
);
const streamEnd = Buffer.from('0\r\n\r\n');

function plain(body: string): Buffer {
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}
const answers: [prefix: string, bytes: Buffer][] = [
  ['GET /v1/models', plain('{"object":"list","data":[{"id":"m","object":"model"}]}')],
  ['GET /metrics', plain('vllm:num_requests_running 1\nvllm:num_requests_waiting 0\nvllm:kv_cache_usage_perc 0.1\n')],
  ['GET', plain('{"model_path":"m","served_model_name":"m"}')],
];
const whole = plain(answer);

function serve(socket: Socket): void {
  let text = '';
  socket.setNoDelay();
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
    for (;;) {
      const headEnd = text.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const head = text.slice(0, headEnd);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (text.length < headEnd + 4 + length) return;
      const body = text.slice(headEnd + 4, headEnd + 4 + length);
      text = text.slice(headEnd + 4 + length);
      const known = answers.find(([prefix]) => head.startsWith(prefix));
      if (known !== undefined) socket.write(known[1]);
      else if (body.includes('"stream":true')) stream(socket);
      else socket.write(whole);
    }
  });
}

function stream(socket: Socket): void {
  let sent = 0;
  socket.write(streamHead);
  const next = () => {
    if (socket.destroyed) return;
    socket.write(piece);
    if (++sent < PIECES) setImmediate(next);
    else socket.write(streamEnd);
  };
  next();
}

const ports = process.argv.slice(2).map(Number);
await Promise.all(
  ports.map((port) => new Promise<void>((done) => createServer(serve).listen(port, '127.0.0.1', done))),
);
process.stdout.write('ready\n');
