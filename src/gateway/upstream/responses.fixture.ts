/** Responses as bytes, shared by several tests. Latin-1: a character is a byte. */
export interface ValidResponse {
  what: string;
  bytes: string;
  status: number;
  /** Name, value, name, value, if the test is about them. */
  headers?: string[];
  body: string;
  /** Whether the connection may be used again. */
  reusable: boolean;
  /** The response ends with its connection. */
  untilClose?: boolean;
}

const every = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join('');

export const VALID: readonly ValidResponse[] = [
  {
    what: 'a length',
    bytes: 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\ncontent-length: 5\r\n\r\nhello',
    status: 200,
    headers: ['Content-Type', 'text/plain', 'content-length', '5'],
    body: 'hello',
    reusable: true,
  },
  {
    what: 'no reason, no space, odd white space around values',
    bytes: 'HTTP/1.1 404\r\na:b\r\nc:  \td e\t \r\nf:\r\ng: \r\nContent-LENGTH:2\r\n\r\nno',
    status: 404,
    headers: ['a', 'b', 'c', 'd e', 'f', '', 'g', '', 'Content-LENGTH', '2'],
    body: 'no',
    reusable: true,
  },
  {
    what: 'a reason of many words, one header twice, bytes above 127',
    bytes: 'HTTP/1.1 503 Not yet, \xfcber\r\nset-cookie: a\r\nset-cookie: b\xff\r\ncontent-length: 0\r\n\r\n',
    status: 503,
    headers: ['set-cookie', 'a', 'set-cookie', 'b\xff', 'content-length', '0'],
    body: '',
    reusable: true,
  },
  {
    what: 'chunks',
    bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\n\r\n',
    status: 200,
    headers: ['Transfer-Encoding', 'chunked'],
    body: 'hello world',
    reusable: true,
  },
  {
    what: 'chunks with hexadecimal sizes, leading zeros, extensions and trailers',
    bytes: `HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n00a;x=y;z\r\n0123456789\r\n1F\r\n${'f'.repeat(31)}\r\n0;last="1"\r\ndigest: x\r\nb: \r\n\r\n`,
    status: 200,
    body: `0123456789${'f'.repeat(31)}`,
    reusable: true,
  },
  {
    what: 'chunks that hold what looks like chunks',
    bytes:
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n0\r\n\r\n\r\n10\r\nHTTP/1.1 200 OK\r\r\n1\r\n\n\r\n0\r\n\r\n',
    status: 200,
    body: '0\r\n\r\nHTTP/1.1 200 OK\r\n',
    reusable: true,
  },
  {
    what: 'no chunk but the last',
    bytes: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    status: 200,
    body: '',
    reusable: true,
  },
  {
    what: 'every byte there is',
    bytes: `HTTP/1.1 200 OK\r\ncontent-length: 256\r\n\r\n${every}`,
    status: 200,
    body: every,
    reusable: true,
  },
  {
    what: 'no body by its status 204',
    bytes: 'HTTP/1.1 204 No Content\r\nx: y\r\n\r\n',
    status: 204,
    body: '',
    reusable: true,
  },
  {
    what: 'no body by its status 304, whatever the length says',
    bytes: 'HTTP/1.1 304 Not Modified\r\ncontent-length: 1000\r\n\r\n',
    status: 304,
    body: '',
    reusable: true,
  },
  {
    what: 'interim answers before it',
    bytes:
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
    status: 200,
    headers: ['content-length', '2'],
    body: 'ok',
    reusable: true,
  },
  {
    what: 'a connection that closes',
    bytes: 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok',
    status: 200,
    body: 'ok',
    reusable: false,
  },
  {
    what: 'a connection that closes, said among other things',
    bytes: 'HTTP/1.1 200 OK\r\nConnection: x-a, Close\r\nConnection: keep-alive\r\ncontent-length: 2\r\n\r\nok',
    status: 200,
    body: 'ok',
    reusable: false,
  },
  {
    what: 'all until the connection closes',
    bytes: 'HTTP/1.1 200 OK\r\ncontent-type: a/b\r\n\r\nto the end\r\n0\r\n\r\n',
    status: 200,
    body: 'to the end\r\n0\r\n\r\n',
    reusable: false,
    untilClose: true,
  },
  {
    what: 'HTTP/1.0',
    bytes: 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok',
    status: 200,
    body: 'ok',
    reusable: false,
  },
  {
    what: 'HTTP/1.0 that keeps the connection',
    bytes: 'HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 2\r\n\r\nok',
    status: 200,
    body: 'ok',
    reusable: true,
  },
  {
    what: 'HTTP/1.0 until the connection closes',
    bytes: 'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\n\r\nok',
    status: 200,
    body: 'ok',
    reusable: false,
    untilClose: true,
  },
];

/** Malformed responses, with the reason of the refusal. */
export const MALFORMED: readonly [what: string, bytes: string, problem: string][] = [
  ['another protocol', 'SSH-2.0-OpenSSH_9.0\r\n', 'does not start with'],
  ['one character of another protocol', 'X', 'does not start with'],
  ['garbage before the status line', 'x\r\nHTTP/1.1 200 OK\r\n\r\n', 'does not start with'],
  ['an empty line before the status line', '\r\nHTTP/1.1 200 OK\r\n\r\n', 'does not start with'],
  ['lower case', 'http/1.1 200 OK\r\n\r\n', 'does not start with'],
  ['HTTP/2', 'HTTP/2.0 200 OK\r\n\r\n', 'does not start with'],
  ['HTTP/1.2', 'HTTP/1.2 200 OK\r\n\r\n', 'is neither HTTP/1.1 nor HTTP/1.0'],
  ['HTTP/1.10', 'HTTP/1.10 200 OK\r\n\r\n', 'is neither HTTP/1.1 nor HTTP/1.0'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n', 'invalid status'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', 'invalid status'],
  ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n', 'invalid status'],
  ['a signed status', 'HTTP/1.1 +20 OK\r\n\r\n', 'invalid status'],
  ['a status line that ends in LF', 'HTTP/1.1 200 OK\ncontent-length: 0\r\n\r\n', 'control character'],
  ['a status line with NUL', 'HTTP/1.1 200 O\0K\r\n\r\n', 'control character'],
  ['a bare CR after the status', 'HTTP/1.1 200 OK\rx: y\r\n\r\n', 'bare CR'],
  ['a header line that ends in LF', 'HTTP/1.1 200 OK\r\na: b\ncontent-length: 0\r\n\r\n', 'control character'],
  ['a bare CR in a header', 'HTTP/1.1 200 OK\r\na: b\rc: d\r\n\r\n', 'bare CR'],
  ['a bare CR before the end', 'HTTP/1.1 200 OK\r\na: b\r\n\rx', 'bare CR'],
  ['NUL in a header', 'HTTP/1.1 200 OK\r\na: b\0c\r\n\r\n', 'control character'],
  ['DEL in a header', 'HTTP/1.1 200 OK\r\na: b\x7f\r\n\r\n', 'control character'],
  ['a folded line', 'HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n', 'without a name'],
  ['a folded first line', 'HTTP/1.1 200 OK\r\n a: b\r\n\r\n', 'without a name'],
  ['a line without a name', 'HTTP/1.1 200 OK\r\n: b\r\n\r\n', 'without a name'],
  ['a line without a colon', 'HTTP/1.1 200 OK\r\nab\r\n\r\n', 'invalid header name'],
  ['a space before the colon', 'HTTP/1.1 200 OK\r\ncontent-length : 5\r\n\r\n', 'invalid header name'],
  ['a name with a byte above 127', 'HTTP/1.1 200 OK\r\na\xe4: b\r\n\r\n', 'invalid header name'],
  [
    'a length and an encoding',
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n',
    'both content-length and',
  ],
  [
    'the same, the other way round',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n',
    'both content-length and',
  ],
  [
    'the same where there is no body',
    'HTTP/1.1 204 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n',
    'both content-length and',
  ],
  [
    'two lengths that differ',
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\nContent-Length: 6\r\n\r\nhello',
    'more than one content-length',
  ],
  [
    'two lengths that do not',
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 5\r\n\r\nhello',
    'more than one content-length',
  ],
  ['a list of lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 5, 5\r\n\r\nhello', 'invalid content-length'],
  ['an empty length', 'HTTP/1.1 200 OK\r\ncontent-length: \r\n\r\n', 'invalid content-length'],
  ['a signed length', 'HTTP/1.1 200 OK\r\ncontent-length: +5\r\n\r\n', 'invalid content-length'],
  ['a negative length', 'HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n', 'invalid content-length'],
  ['a hexadecimal length', 'HTTP/1.1 200 OK\r\ncontent-length: 0x5\r\n\r\n', 'invalid content-length'],
  ['a length with an exponent', 'HTTP/1.1 200 OK\r\ncontent-length: 1e3\r\n\r\n', 'invalid content-length'],
  [
    'a length beyond what numbers hold',
    `HTTP/1.1 200 OK\r\ncontent-length: ${'9'.repeat(17)}\r\n\r\n`,
    'invalid content-length',
  ],
  ['gzip as an encoding', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n', 'other than chunked'],
  ['an encoding that is none', 'HTTP/1.1 200 OK\r\ntransfer-encoding: identity\r\n\r\n', 'other than chunked'],
  ['chunked twice', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked, chunked\r\n\r\n', 'other than chunked'],
  [
    'two encodings',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n',
    'more than one transfer-encoding',
  ],
  ['an encoding in HTTP/1.0', 'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', 'transfer-encoding in HTTP/1.0'],
  ['another protocol from here on', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n', 'switches protocols'],
  ['nothing but interim answers', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(17), 'too many 1xx responses'],
  ['more lines than any head has', `HTTP/1.1 200 OK\r\n${'a:b\r\n'.repeat(257)}\r\n`, 'more than 256 header lines'],
];

const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

/** Malformed chunks, after a valid head. */
export const MALFORMED_CHUNKS: readonly [what: string, bytes: string, problem: string][] = [
  ['a chunk without a size', `${chunked}\r\nhello`, 'invalid chunk size'],
  ['a chunk with an extension for a size', `${chunked};a\r\nhello`, 'invalid chunk size'],
  ['a signed size', `${chunked}+5\r\nhello\r\n`, 'invalid chunk size'],
  ['a negative size', `${chunked}-5\r\nhello\r\n`, 'invalid chunk size'],
  ['a size with its base', `${chunked}0x5\r\nhello\r\n`, 'invalid chunk size'],
  ['a size after a space', `${chunked} 5\r\nhello\r\n`, 'invalid chunk size'],
  ['a size before a space', `${chunked}5 \r\nhello\r\n`, 'invalid chunk size'],
  ['two sizes', `${chunked}5 5\r\nhello\r\n`, 'invalid chunk size'],
  ['a size beyond what numbers hold', `${chunked}${'f'.repeat(14)}\r\n`, 'invalid chunk size'],
  ['zeros without end', `${chunked}${'0'.repeat(129)}\r\n`, 'invalid chunk size'],
  ['a size that ends in LF', `${chunked}5\nhello\r\n`, 'invalid chunk size'],
  ['a bare CR after a size', `${chunked}5\rhello\r\n`, 'bare CR'],
  ['an extension that ends in LF', `${chunked}5;a\nhello\r\n`, 'control character'],
  ['NUL in an extension', `${chunked}5;\0\r\nhello\r\n`, 'control character'],
  ['a chunk longer than it says', `${chunked}4\r\nhello\r\n`, 'longer than its size'],
  ['a chunk that ends in LF', `${chunked}5\r\nhello\n0\r\n\r\n`, 'longer than its size'],
  ['a chunk that ends in CR', `${chunked}5\r\nhello\r0\r\n\r\n`, 'longer than its size'],
  ['a folded trailer', `${chunked}0\r\na: b\r\n c\r\n\r\n`, 'without a name'],
  ['NUL in a trailer', `${chunked}0\r\na: \0\r\n\r\n`, 'control character'],
  ['a bare CR after the trailers', `${chunked}0\r\n\rx`, 'bare CR'],
];
