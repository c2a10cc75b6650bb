import { useState } from 'react';
import { Button } from '../../parts/basics';
import { Command } from '../../parts/command';
import { quoted } from '../../parts/commands';
import type { ChatParameters, Message } from './stream-chat';

const LANGUAGES = ['curl', 'Python', 'TypeScript'] as const;
type Language = (typeof LANGUAGES)[number];

interface CodeProps {
  readonly url: string;
  readonly model: string;
  readonly messages: readonly Message[];
  readonly parameters: ChatParameters;
}

/** Code to copy: the same request by the clients that people use. */
export function Code(props: CodeProps) {
  const [language, setLanguage] = useState<Language>('curl');
  return (
    <div className="form padded">
      <div className="choices">
        {LANGUAGES.map((one) => (
          <Button
            key={one}
            look={one === language ? 'plain' : 'quiet'}
            aria-pressed={one === language}
            onClick={() => setLanguage(one)}
          >
            {one}
          </Button>
        ))}
      </div>
      <Command text={CODE[language](props)} />
      <p className="muted">With an API key in the environment variable API_KEY, where the gateway asks for one.</p>
    </div>
  );
}

/** Text as it stands in the source of Python and TypeScript alike. */
const literal = (value: unknown) => JSON.stringify(value);

const CODE: Record<Language, (props: CodeProps) => string> = {
  curl: ({ messages, model, parameters, url }) => `curl ${quoted(`${url}/v1/chat/completions`)} \\
  -H 'content-type: application/json' -H "authorization: Bearer $API_KEY" \\
  -d ${quoted(JSON.stringify({ model, messages, ...parameters }))}`,
  Python: ({ messages, model, parameters, url }) => `import os

from openai import OpenAI

client = OpenAI(base_url=${literal(`${url}/v1`)}, api_key=os.environ.get("API_KEY", "none"))
response = client.chat.completions.create(
    model=${literal(model)},
    messages=${literal(messages)},
${Object.entries(parameters)
  .map(([name, value]) => `    ${name}=${literal(value)},\n`)
  .join('')})
print(response.choices[0].message.content)`,
  TypeScript: ({ messages, model, parameters, url }) => `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: ${literal(`${url}/v1`)}, apiKey: process.env.API_KEY ?? 'none' });
const response = await client.chat.completions.create({
  model: ${literal(model)},
  messages: ${literal(messages)},
${Object.entries(parameters)
  .map(([name, value]) => `  ${name}: ${literal(value)},\n`)
  .join('')}});
console.log(response.choices[0].message.content);`,
};
