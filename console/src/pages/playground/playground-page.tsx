import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useRef, useState } from 'react';
import { useBestRole } from '../../api/access';
import type { ApiFailure } from '../../api/client';
import { useGet, useSession } from '../../api/queries';
import type { LiveEndpoint, Page } from '../../api/types';
import { Button, Card, PageHead } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { clientUrl } from '../../parts/first-request';
import { Empty, Failure } from '../../parts/states';
import { Code } from './code';
import { Column } from './column';
import { Parameters, parametersIn } from './parameters';
import { withSystem } from './stream-chat';

const route = getRouteApi('/playground');

/** Most models side by side. */
const MOST_COLUMNS = 3;

/** The models that the visitor may use: those that are served, or those that its key reaches. */
function useModels(): {
  readonly models: readonly string[];
  readonly isKnown: boolean;
  readonly error: ApiFailure | null;
} {
  const isViewer = useBestRole() !== 'none';
  const served = useGet<Page<LiveEndpoint>>(isViewer ? 'live?limit=1000' : null);
  const own = useGet<Page<{ readonly name: string }>>(isViewer ? null : 'playground/models?limit=1000');
  const names = isViewer ? served.data?.items.flatMap((one) => one.models) : own.data?.items.map(({ name }) => name);
  return { models: [...new Set(names)].sort(), isKnown: names !== undefined, error: served.error ?? own.error };
}

/** Chat with one model, or with several side by side. */
export function PlaygroundPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { error, isKnown, models: known } = useModels();
  const { data: session } = useSession();
  const given = search.models;
  const chosen = given === undefined ? known.slice(0, 1) : given.split(',').slice(0, MOST_COLUMNS);
  const [key, setKey] = useState('');
  /** Of each column: its chat stays with it when another one is removed. */
  const ids = useRef<number[]>([]);
  while (ids.current.length < chosen.length) ids.current.push((ids.current.at(-1) ?? 0) + 1);
  const [chat, setChat] = useState(0);
  const [turn, setTurn] = useState<{ readonly number: number; readonly text: string } | null>(null);
  const input = useRef<HTMLTextAreaElement>(null);
  const choose = (next: readonly string[]) =>
    void navigate({ search: (before) => ({ ...before, models: next.join(',') }), replace: true });
  const remove = (column: number) => {
    ids.current.splice(column, 1);
    choose(chosen.filter((_, at) => at !== column));
  };
  const { system = '' } = search;
  const parameters = parametersIn(search);
  const settings = { system, parameters, key };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const text = input.current!.value.trim();
    if (text === '') return;
    setTurn((before) => ({ number: (before?.number ?? 0) + 1, text }));
    input.current!.value = '';
  };
  if (isKnown && known.length === 0) {
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
          <>
            {turn === null ? null : <Button onClick={() => setChat(chat + 1)}>New chat</Button>}
            {chosen.length < MOST_COLUMNS ? (
              <Button onClick={() => choose([...chosen, known.find((one) => !chosen.includes(one)) ?? known[0] ?? ''])}>
                Add a model
              </Button>
            ) : null}
          </>
        }
      />
      <div className="filters">
        <Parameters />
        <label className="field">
          <span>API key, if not your own log-in</span>
          <input type="password" autoComplete="off" value={key} onChange={({ target }) => setKey(target.value)} />
        </label>
      </div>
      {error === null ? null : <Failure error={error} />}
      <div className="chats">
        {chosen.map((model, i) => (
          <Column
            key={`${chat} ${ids.current[i]}`}
            model={model}
            models={known}
            turn={turn}
            settings={settings}
            onModel={(next) => choose(chosen.map((one, at) => (at === i ? next : one)))}
            onRemove={chosen.length > 1 ? () => remove(i) : null}
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
        <Code
          url={clientUrl(session?.gateway_url ?? '')}
          model={chosen[0] ?? ''}
          messages={withSystem(system, [{ role: 'user', content: turn?.text ?? 'hello' }])}
          parameters={parameters}
        />
      </Card>
      <AsCommand commands={[]} calls={['playground/models']} />
    </>
  );
}
