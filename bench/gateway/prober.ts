import { connect } from 'node:net';

/**
 * Sends one small request after the other on one connection, in a process that does nothing else. It sends a message
 * when it is connected. Any message from the parent is replied to with the longest time that one took since the last message, in milliseconds. Argument: the port.
 */
const REQUEST = 'GET /health HTTP/1.1\r\nhost: h\r\n\r\n';
let worstMs = 0;
let startedMs = 0;
const socket = connect(Number(process.argv[2]), '127.0.0.1');

function next(): void {
  startedMs = performance.now();
  socket.write(REQUEST);
}

socket.on('connect', () => {
  process.send!('connected');
  next();
});
socket.on('data', (bytes) => {
  if (!bytes.toString('latin1').endsWith('}\n')) return;
  worstMs = Math.max(worstMs, performance.now() - startedMs);
  setImmediate(next);
});
process.on('message', () => {
  process.send!(worstMs);
  worstMs = 0;
});
