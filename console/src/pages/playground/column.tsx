import { useEffect, useRef, useState } from 'react';
import { Button } from '../../parts/basics';
import { milliseconds } from '../../parts/format';
import { type ChatSettings, type Message, streamChat } from './stream-chat';

interface ColumnProps {
  readonly model: string;
  readonly models: readonly string[];
  readonly turn: { readonly number: number; readonly text: string } | null;
  readonly settings: ChatSettings;
  readonly onModel: (model: string) => void;
  readonly onRemove: (() => void) | null;
}

interface Shown extends Message {
  readonly ttftMs?: number;
  readonly tokens?: number;
  readonly rate?: number;
  readonly problem?: string;
}

/** The chat with one model. */
export function Column({ model, models, onModel, onRemove, settings, turn }: ColumnProps) {
  const [messages, setMessages] = useState<readonly Shown[]>([]);
  const [isBusy, setBusy] = useState(false);
  const latest = useRef({ messages, model, settings });
  latest.current = { messages, model, settings };
  const stop = useRef<AbortController | null>(null);
  const number = turn?.number ?? 0;
  const text = turn?.text ?? '';
  useEffect(() => {
    if (number === 0) return;
    const { messages: before, model: asked, settings: given } = latest.current;
    const said: readonly Shown[] = [...before, { role: 'user', content: text }];
    const left = new AbortController();
    stop.current?.abort();
    stop.current = left;
    setBusy(true);
    const show = (answer: Shown) => {
      if (!left.signal.aborted) setMessages([...said, answer]);
    };
    setMessages([...said, { role: 'assistant', content: '' }]);
    streamChat(asked, said, given, left.signal, (progress) => show({ role: 'assistant', ...progress }))
      .catch((error: Error) => {
        if (error.name !== 'AbortError') show({ role: 'assistant', content: '', problem: error.message });
      })
      .finally(() => {
        if (stop.current === left) setBusy(false);
      });
    return () => left.abort();
  }, [number, text]);
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
      <ol className="chat-lines" aria-live="polite">
        {messages.map((one, i) => (
          <li key={i} className={`said said-${one.role}`}>
            {one.problem === undefined ? one.content || '…' : <span className="login-problem">{one.problem}</span>}
            {one.ttftMs === undefined ? null : (
              <span className="said-times muted">
                first token {milliseconds(one.ttftMs)}
                {one.tokens === undefined ? '' : ` · ${one.tokens} tokens`}
                {one.rate === undefined ? '' : ` · ${one.rate.toFixed(1)} tokens/s`}
              </span>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
