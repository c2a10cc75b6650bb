import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CHATS = 64;
/** The system prompts of the chats differ. */
const SENTENCE = 'The quick brown fox jumps over the lazy dog. ';

export interface ScriptOptions {
  folder: string;
  stream: boolean;
  /** For routers that require one. */
  key: string;
  /** How often the question repeats its sentence of 45 bytes. */
  sentences?: number;
  chats?: number;
}

/** A script for wrk: prompts with different prefixes in turn, by default 64 of 1.3 kB. */
export function wrkScript({ folder, stream, key, sentences = 25, chats = CHATS }: ScriptOptions): string {
  const path = join(folder, `${stream ? 'stream' : 'plain'}-${sentences}-${chats}.lua`);
  const question = SENTENCE.repeat(sentences);
  const bodies = Array.from({ length: chats }, (_, chat) => {
    const system = { role: 'system', content: `You are the helpful assistant number ${chat} of ${chats}.` };
    const messages = [system, { role: 'user', content: question }];
    return JSON.stringify({ model: 'm', messages, max_tokens: 16, stream });
  });
  const list = bodies.map((body) => `[==[${body}]==]`).join(',\n');
  writeFileSync(
    path,
    `wrk.method="POST"\nwrk.headers["content-type"]="application/json"\nwrk.headers["authorization"]="Bearer ${key}"\nlocal bodies={${list}}\nlocal n=0
request=function() n=n+1; return wrk.format(nil,nil,nil,bodies[n%${chats}+1]) end\n`,
  );
  return path;
}
