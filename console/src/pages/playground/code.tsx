import { useState } from 'react';
import { Button } from '../../parts/basics';
import { Command } from '../../parts/command';

const LANGUAGES = ['curl', 'Python', 'TypeScript'] as const;
type Language = (typeof LANGUAGES)[number];

interface CodeProps {
  readonly url: string;
  readonly model: string;
  readonly maxTokens: number;
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
    </div>
  );
}

const CODE: Record<Language, (props: CodeProps) => string> = {
  curl: ({ maxTokens, model, url }) => `curl ${url}/v1/chat/completions \\
  -H 'content-type: application/json' -H "authorization: Bearer $API_KEY" \\
  -d '{"model": ${JSON.stringify(model)}, "max_tokens": ${maxTokens}, "messages": [{"role": "user", "content": "hello"}]}'`,
  Python: ({ maxTokens, model, url }) => `from openai import OpenAI

client = OpenAI(base_url="${url}/v1", api_key="API_KEY")
response = client.chat.completions.create(
    model=${JSON.stringify(model)},
    max_tokens=${maxTokens},
    messages=[{"role": "user", "content": "hello"}],
)
print(response.choices[0].message.content)`,
  TypeScript: ({ maxTokens, model, url }) => `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${url}/v1', apiKey: 'API_KEY' });
const response = await client.chat.completions.create({
  model: ${JSON.stringify(model)},
  max_tokens: ${maxTokens},
  messages: [{ role: 'user', content: 'hello' }],
});
console.log(response.choices[0].message.content);`,
};
