import { useEffect, useRef, useState } from 'react';
import { ApiFailure } from '../../api/client';
import { Button } from '../../parts/basics';
import { milliseconds } from '../../parts/format';
import type { Progress } from './read-chat';
import { type ChatSettings, type Message, streamChat } from './stream-chat';

interface ColumnProps {
  readonly model: string;
  readonly models: readonly string[];
  readonly turn: { readonly number: number; readonly text: string } | null;
  readonly settings: ChatSettings;
  readonly onModel: (model: string) => void;
  readonly onRemove: (() => void) | null;
}

interface Shown extends Message, Partial<Pick<Progress, 'reasoning' | 'ttftMs' | 'tokens' | 'rate'>> {
  readonly problem?: string;
  readonly isStopped?: true;
  /** Nothing more is said. */
  readonly isComplete?: true;
}

/** A response that failed or is empty has nothing to go on from: neither it nor its question is sent again. */
const sentAgain = (messages: readonly Shown[]) =>
  messages.filter((one, i) => {
    const response = one.role === 'user' ? messages[i + 1] : one;
    return response !== undefined && response.problem === undefined && response.content !== '';
  });

const problemOf = (error: Error) =>
  error instanceof ApiFailure && error.hint ? `${error.message}; ${error.hint}` : error.message;

/** The chat with one model. */
export function Column({ model, models, onModel, onRemove, settings, turn }: ColumnProps) {
  const [messages, setMessages] = useState<readonly Shown[]>([]);
  const [isBusy, setBusy] = useState(false);
  const latest = useRef({ messages, model, settings });
  latest.current = { messages, model, settings };
  const stop = useRef<AbortController | null>(null);
  const number = turn?.number ?? 0;
  const text = turn?.text ?? '';
  /** A model that is added later takes part from the next message on. */
  const joined = useRef(number);
  useEffect(() => {
    if (number === joined.current) return;
    const { messages: before, model: asked, settings: given } = latest.current;
    const said: readonly Shown[] = [...before, { role: 'user', content: text }];
    const left = new AbortController();
    stop.current?.abort();
    stop.current = left;
    setBusy(true);
    let shown = { role: 'assistant', content: '' } as Shown;
    const show = (change: Partial<Shown>) => {
      shown = { ...shown, ...change };
      setMessages([...said, shown]);
    };
    show({});
    streamChat(asked, [...sentAgain(before), said.at(-1)!], given, left.signal, (progress) => {
      if (!left.signal.aborted) show(progress);
    })
      .then(() => show({ isComplete: true }))
      .catch((error: Error) => {
        if (error.name !== 'AbortError') show({ problem: problemOf(error) });
        else if (stop.current === left) show({ isStopped: true });
      })
      .finally(() => {
        if (stop.current === left) setBusy(false);
      });
    return () => left.abort();
  }, [number, text]);
  const last = messages.at(-1);
  return (
    <section className="chat" aria-label={`Chat with ${model}`}>
      <header className="chat-head">
        <select aria-label="Model" value={model} onChange={({ target }) => onModel(target.value)}>
          {models.includes(model) ? null : <option>{model}</option>}
          {models.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        {isBusy ? (
          <Button look="quiet" onClick={() => stop.current?.abort()}>
            Stop
          </Button>
        ) : null}
        {onRemove === null ? null : (
          <Button look="quiet" aria-label={`Remove ${model}`} onClick={onRemove}>
            Remove
          </Button>
        )}
      </header>
      <ol className="chat-lines">
        {messages.map((one, i) => (
          <li key={i} className={`said said-${one.role}`}>
            <Said one={one} />
          </li>
        ))}
      </ol>
      {/* A screen reader hears a response once, when it is complete. */}
      <p className="visually-hidden" role="status">
        {last?.isComplete === true ? `${model}: ${last.content || EMPTY}` : ''}
      </p>
    </section>
  );
}

const EMPTY = '(empty response)';

function Said({ one }: { readonly one: Shown }) {
  const { isComplete, isStopped, problem, rate, reasoning = '', tokens, ttftMs } = one;
  const times = [
    ...(ttftMs === undefined ? [] : [`first token ${milliseconds(ttftMs)}`]),
    ...(tokens === undefined ? [] : [`${tokens} tokens`]),
    ...(rate === undefined ? [] : [`${rate.toFixed(1)} tokens/s`]),
  ];
  const isWaiting = problem === undefined && isStopped === undefined && one.role === 'assistant';
  return (
    <>
      {reasoning === '' ? null : (
        <details className="said-reasoning">
          <summary>Reasoning</summary>
          {reasoning}
        </details>
      )}
      {one.content || (isComplete === true ? <span className="muted">{EMPTY}</span> : isWaiting ? '…' : null)}
      {problem === undefined ? null : (
        <span className="login-problem" role="alert">
          {problem}
        </span>
      )}
      {isStopped === undefined ? null : <span className="said-times muted">stopped</span>}
      {times.length === 0 ? null : <span className="said-times muted">{times.join(' · ')}</span>}
    </>
  );
}
