import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useRef, useState } from 'react';
import { useGet, useSession } from '../../api/queries';
import type { LiveEndpoint, Page } from '../../api/types';
import { Button, Card, PageHead } from '../../parts/basics';
import { Empty } from '../../parts/states';
import { Code } from './code';
import { Column } from './column';

const route = getRouteApi('/playground');

/** Most models side by side. */
const MOST_COLUMNS = 3;

/** Chat with one model, or with several side by side. */
export function PlaygroundPage() {
  const { models: given } = route.useSearch();
  const navigate = route.useNavigate();
  const { data } = useGet<Page<LiveEndpoint>>('live?limit=1000');
  const { data: session } = useSession();
  const known = [...new Set(data?.items.flatMap((one) => one.models) ?? [])].sort();
  const chosen = given === undefined ? known.slice(0, 1) : given.split(',').slice(0, MOST_COLUMNS);
  const [system, setSystem] = useState('');
  const [tokens, setTokens] = useState('256');
  const [temperature, setTemperature] = useState('1');
  const [key, setKey] = useState('');
  const [turn, setTurn] = useState<{ readonly number: number; readonly text: string } | null>(null);
  const input = useRef<HTMLTextAreaElement>(null);
  const choose = (next: readonly string[]) => void navigate({ search: { models: next.join(',') }, replace: true });
  const settings = { system, maxTokens: Number(tokens) || 256, temperature: Number(temperature), key };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const text = input.current!.value.trim();
    if (text === '') return;
    setTurn((before) => ({ number: (before?.number ?? 0) + 1, text }));
    input.current!.value = '';
  };
  if (data !== undefined && known.length === 0) {
    return (
      <>
        <PageHead title="Playground" />
        <Empty title="No model is served yet" command="twinyard apply -f examples/endpoints/emulated.yaml" />
      </>
    );
  }
  return (
    <>
      <PageHead
        title="Playground"
        about="Times are measured in this browser, by way of the admin port"
        actions={
          chosen.length < MOST_COLUMNS ? (
            <Button onClick={() => choose([...chosen, known.find((one) => !chosen.includes(one)) ?? known[0] ?? ''])}>
              Add a model
            </Button>
          ) : null
        }
      />
      <div className="filters">
        <label className="field">
          <span>System prompt</span>
          <input value={system} onChange={({ target }) => setSystem(target.value)} />
        </label>
        <label className="field">
          <span>Most tokens</span>
          <input type="number" min={1} max={100000} value={tokens} onChange={({ target }) => setTokens(target.value)} />
        </label>
        <label className="field">
          <span>Temperature</span>
          <input
            type="number"
            min={0}
            max={2}
            step={0.1}
            value={temperature}
            onChange={({ target }) => setTemperature(target.value)}
          />
        </label>
        <label className="field">
          <span>API key, if not your own log-in</span>
          <input type="password" autoComplete="off" value={key} onChange={({ target }) => setKey(target.value)} />
        </label>
      </div>
      <div className="chats">
        {chosen.map((model, i) => (
          <Column
            key={i}
            model={model}
            models={known}
            turn={turn}
            settings={settings}
            onModel={(next) => choose(chosen.map((one, at) => (at === i ? next : one)))}
            onRemove={chosen.length > 1 ? () => choose(chosen.filter((_, at) => at !== i)) : null}
          />
        ))}
      </div>
      <form className="chat-form" onSubmit={submit}>
        <textarea
          ref={input}
          rows={2}
          aria-label="Message"
          placeholder="Message; Enter sends, Shift+Enter breaks the line"
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey) submit(event);
          }}
        />
        <Button type="submit" look="primary">
          Send
        </Button>
      </form>
      <Card title="The same by code">
        <Code url={session?.gateway_url ?? ''} model={chosen[0] ?? ''} maxTokens={settings.maxTokens} />
      </Card>
    </>
  );
}
