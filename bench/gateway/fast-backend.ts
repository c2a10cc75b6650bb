import { createServer, type ServerResponse } from 'node:http';

/**
 * A backend that responds at once, in its own process, so that the measurement is mostly of the proxy in front of it.
 * Argument: its port.
 */
const PIECES = 16;
/** Bodies of more bytes are not parsed: that would take the processors from the proxy for longer than the proxy needs them. */
const MOST_PARSED = 64 * 1024;
const answer = JSON.stringify({
  id: 'cmpl-1',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello world' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 340, completion_tokens: 2, total_tokens: 342 },
});
const delta = { id: 'cmpl-1', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'hello ' } }] };
const event = `data: ${JSON.stringify(delta)}\n\n`;
const others: Record<string, string> = {
  '/v1/models': '{"object":"list","data":[{"id":"m","object":"model"}]}',
  '/metrics': 'vllm:num_requests_running 1\nvllm:num_requests_waiting 0\nvllm:kv_cache_usage_perc 0.1\n',
};

function stream(response: ServerResponse): void {
  let sent = 0;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const next = () => {
    if (response.destroyed) return;
    response.write(event);
    if (++sent < PIECES) setImmediate(next);
    else response.end('data: [DONE]\n\n');
  };
  next();
}

function streams(body: Buffer): boolean {
  if (body.length > MOST_PARSED) return body.includes('"stream":true');
  return (JSON.parse(body.toString()) as { stream?: boolean }).stream === true;
}

function send(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  if (request.method === 'GET') {
    send(response, others[request.url!] ?? '{"model_path":"m","served_model_name":"m"}');
    return;
  }
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    if (streams(Buffer.concat(pieces))) stream(response);
    else send(response, answer);
  });
}).listen(Number(process.argv[2]), '127.0.0.1');
