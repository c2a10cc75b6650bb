import { createServer } from 'node:http';
import { Pool } from 'undici';

/**
 * A minimal proxy on this stack: no policy, no accounting, no limits. Arguments: its port, then those of the backends.
 */
const [port, ...backends] = process.argv.slice(2).map(Number);
const pools = backends.map((backend) => new Pool(`http://127.0.0.1:${backend}`));
let turn = 0;
createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    let resume = () => {};
    pools[turn++ % pools.length]!.dispatch(
      {
        path: request.url!,
        method: request.method as 'POST',
        headers: { 'content-type': 'application/json' },
        body: Buffer.concat(pieces),
      },
      {
        onConnect() {},
        onHeaders(status, raw, more) {
          resume = more;
          const headers: string[] = [];
          for (let i = 0; i < raw.length; i += 2) {
            const name = raw[i]!.toString();
            if (name !== 'transfer-encoding' && name !== 'connection') headers.push(name, raw[i + 1]!.toString());
          }
          response.writeHead(status, headers);
          return true;
        },
        onData(piece) {
          if (response.write(piece)) return true;
          response.once('drain', resume);
          return false;
        },
        onComplete: () => void response.end(),
        onError: () => void response.destroy(),
      },
    );
  });
}).listen(port, '127.0.0.1', () => process.stdout.write('ready\n'));
